package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func (v vec) sqrt(a Op, dst reg.VecVirtual)   { v.pick(VSQRTPD, VSQRTPS, a, dst) }  // dst = √a
func (v vec) div(b, a Op, dst reg.VecVirtual) { v.pick(VDIVPD, VDIVPS, b, a, dst) } // dst = a/b

// scaleBy emits x *= size of an element.
func (v vec) scaleBy(x reg.Register) {
	shift := Imm(3)
	if v.size == 4 {
		shift = Imm(2)
	}
	SHLQ(shift, x)
}

// invTo computes 1/x, and 0 where x is 0.
func invTo(v vec) {
	dst, x, n := pointer("dst"), pointer("x"), pointer("n")
	zero, one := v.reg(), v.reg()
	v.zero(zero)
	VMOVUPS(v.constant(1), one)
	v.loop(n, 4, func(l step, _ int) {
		t, q := l.load(x), v.reg()
		v.div(t, one, q)
		v.choose(equal, zero, t, zero, q)
		l.store(q, dst)
	}, nil)
}

// overRows runs body for each row of a column of differences; body gets the
// addresses of the row of x and of c, and of the row of y and of e if there
// are such.
func overRows(v vec, ld reg.Register, x, c, y, e reg.Register, body func(x reg.Register, c Mem, y reg.Register, e Mem)) {
	rows, err := Param("rows").Resolve()
	if err != nil {
		panic(err)
	}
	k, xRow := GP64(), GP64()
	XORQ(k, k)
	MOVQ(x, xRow)
	var yRow reg.Register
	var eAt Mem
	if y != nil {
		r := GP64()
		MOVQ(y, r)
		yRow, eAt = r, Mem{Base: e, Index: k, Scale: uint8(v.size)}
	}
	row := v.label("row")
	Label(row)
	body(xRow, Mem{Base: c, Index: k, Scale: uint8(v.size)}, yRow, eAt)
	ADDQ(ld, xRow)
	if y != nil {
		ADDQ(ld, yRow)
	}
	INCQ(k)
	CMPQ(k, rows.Addr)
	JL(LabelRef(row))
}

// distances rounds each square before the sum, so that all tiers give the same
// bits.
func distances(v vec) {
	n, dst, x, ldx, c := pointer("n"), pointer("dst"), pointer("x"), pointer("ldx"), pointer("c")
	v.scaleBy(ldx)
	v.loop(n, 1, func(l step, _ int) {
		sum := v.reg()
		v.zero(sum)
		overRows(v, ldx, x, c, nil, nil, func(x reg.Register, c Mem, _ reg.Register, _ Mem) {
			t, ci := l.load(x), v.reg()
			v.broadcast(c, ci)
			v.sub(ci, t, t)
			v.mul(t, t, t)
			v.add(t, sum, sum)
		})
		v.sqrt(sum, sum)
		l.store(sum, dst)
	}, nil)
}

func diffDots(v vec) {
	n, dst, x, ld, c := pointer("n"), pointer("dst"), pointer("x"), pointer("ld"), pointer("c")
	y, e := pointer("y"), pointer("e")
	v.scaleBy(ld)
	v.loop(n, 1, func(l step, _ int) {
		sum := v.reg()
		v.zero(sum)
		overRows(v, ld, x, c, y, e, func(x reg.Register, c Mem, y reg.Register, e Mem) {
			t, u, b := l.load(x), l.load(y), v.reg()
			v.broadcast(c, b)
			v.sub(b, t, t)
			v.broadcast(e, b)
			v.sub(b, u, u)
			v.mul(u, t, t)
			v.add(t, sum, sum)
		})
		l.store(sum, dst)
	}, nil)
}

func addDiffs(v vec) {
	n, dst, x, ld, c := pointer("n"), pointer("dst"), pointer("x"), pointer("ld"), pointer("c")
	w, sums, rows := pointer("w"), pointer("sums"), pointer("rows")
	v.scaleBy(ld)
	row := v.label("row")
	Label(row)
	ci := v.reg()
	v.broadcast(Mem{Base: c}, ci)
	acc := v.regs(2)
	v.zero(acc[0])
	v.zero(acc[1])
	v.loop(n, 2, func(l step, u int) {
		t := l.load(x)
		v.sub(ci, t, t)
		v.mul(l.load(w), t, t)
		// Masked lanes hold ci·0, which is not zero if ci is infinite.
		if l.mask != nil {
			t = l.keep(t)
		}
		v.add(t, acc[u], acc[u])
		v.add(l.load(dst), t, t)
		l.store(t, dst)
	}, nil)
	v.add(acc[1], acc[0], acc[0])
	v.reduce(acc[0], v.add)
	s := reg.VecVirtual(v.reg())
	v.zero(s)
	v.pick(VMOVSD, VMOVSS, Mem{Base: sums}, s.AsX())
	v.add(acc[0], s, s)
	v.pick(VMOVSD, VMOVSS, s.AsX(), Mem{Base: sums})
	ADDQ(ld, dst)
	ADDQ(ld, x)
	ADDQ(Imm(uint64(v.size)), c)
	ADDQ(Imm(uint64(v.size)), sums)
	DECQ(rows)
	JNZ(LabelRef(row))
}

// keep returns r with zeros in the lanes that are masked out.
func (l step) keep(r reg.VecVirtual) reg.VecVirtual {
	t := l.reg()
	switch {
	case l.wide && l.double():
		VMOVAPD_Z(r, l.mask, t)
	case l.wide:
		VMOVAPS_Z(r, l.mask, t)
	default:
		VANDPS(r, l.mask, t)
	}
	return t
}
