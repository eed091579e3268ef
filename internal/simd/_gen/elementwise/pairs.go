package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scaleBy emits x *= size of an element.
func (v vec) scaleBy(x reg.Register) {
	shift := Imm(3)
	if v.size == 4 {
		shift = Imm(2)
	}
	SHLQ(shift, x)
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

// overSquares runs body for each vector of squared distances.
func overSquares(v vec, body func(l step, squares reg.VecVirtual)) {
	n, x, ldx, c := pointer("n"), pointer("x"), pointer("ldx"), pointer("c")
	v.scaleBy(ldx)
	v.groups(n, 4, func(ls []step) {
		sums := v.regs(len(ls))
		for _, s := range sums {
			v.zero(s)
		}
		overRows(v, ldx, x, c, nil, nil, func(x reg.Register, c Mem, _ reg.Register, _ Mem) {
			ci := v.reg()
			v.broadcast(c, ci)
			for u, l := range ls {
				t := l.load(x)
				v.sub(ci, t, t)
				v.fmadd231(t, t, sums[u])
			}
		})
		for u, l := range ls {
			body(l, sums[u])
		}
	}, nil)
}

func distances(v vec) {
	dst := pointer("dst")
	overSquares(v, func(l step, s reg.VecVirtual) { l.store(v.root(s, false), dst) })
}

func invDistances(v vec) {
	dst := pointer("dst")
	overSquares(v, func(l step, s reg.VecVirtual) { l.store(v.root(s, true), dst) })
}

// root returns √s or, where s is not 0, 1/√s. AVX-512 approximates y = 1/√s to
// 14 bits, so that e = 1 - s·y² is below 2⁻¹³ and the series
//
//	1/√s = y·(1 - e)^-½ = y·(1 + e/2 + 3e²/8 + 5e³/16 + ...)
//
// needs three of its terms, or two for float32. That takes less time than the
// instruction for √s.
func (v vec) root(s reg.VecVirtual, inverse bool) reg.VecVirtual {
	if !v.wide {
		r := v.reg()
		v.pick(VSQRTPD, VSQRTPS, s, r)
		if inverse {
			one, zero := v.reg(), v.reg()
			VMOVUPS(v.constant(1), one)
			v.zero(zero)
			v.pick(VDIVPD, VDIVPS, r, one, r)
			v.choose(equal, zero, s, zero, r)
		}
		return r
	}
	y, t, e, p := v.reg(), v.reg(), v.reg(), v.reg()
	v.pick(VRSQRT14PD, VRSQRT14PS, s, y)
	v.mul(s, y, t)
	VMOVUPS(v.constant(1), e)
	v.fnmadd231(y, t, e)
	if v.double() {
		VMOVUPS(v.constant(0.3125), p)
		v.fmadd213(v.constant(0.375), e, p)
	} else {
		VMOVUPS(v.constant(0.375), p)
	}
	v.fmadd213(v.constant(0.5), e, p)
	v.mul(e, p, p)
	// For the classes of s by bits of four, from NaN on: what stands there (0), s
	// (1) or zero (8). Zero has the third, infinity the sixth.
	if inverse {
		v.fmadd231(y, p, y)
		v.fixUp(0x800800, s, y)
		return y
	}
	v.fmadd231(t, p, t)
	v.fixUp(0x100100, s, t)
	return t
}

// fixUp replaces the elements of dst where s has a special value by what table
// says.
func (v vec) fixUp(table uint32, s, dst reg.VecVirtual) {
	if v.double() {
		VFIXUPIMMPD(Imm(0), entry(uint64(table)), s, dst)
	} else {
		VFIXUPIMMPS(Imm(0), entry(table), s, dst)
	}
}

func diffDots(v vec) {
	n, dst, x, ld, c := pointer("n"), pointer("dst"), pointer("x"), pointer("ld"), pointer("c")
	y, e := pointer("y"), pointer("e")
	v.scaleBy(ld)
	v.groups(n, 2, func(ls []step) {
		sums := v.regs(len(ls))
		for _, s := range sums {
			v.zero(s)
		}
		overRows(v, ld, x, c, y, e, func(x reg.Register, c Mem, y reg.Register, e Mem) {
			ci, ei := v.reg(), v.reg()
			v.broadcast(c, ci)
			v.broadcast(e, ei)
			for k, l := range ls {
				t, u := l.load(x), l.load(y)
				v.sub(ci, t, t)
				v.sub(ei, u, u)
				v.fmadd231(u, t, sums[k])
			}
		})
		for u, l := range ls {
			l.store(sums[u], dst)
		}
	}, nil)
}

// addDiffs keeps what a row of x takes of the four points in registers.
func addDiffs(v vec) {
	n, dst, x, ld, c := pointer("n"), pointer("dst"), pointer("x"), pointer("ld"), pointer("c")
	ldw, sums, rows := pointer("ldw"), pointer("sums"), pointer("rows")
	w := [4]reg.Register{pointer("w"), GP64(), GP64(), GP64()}
	v.scaleBy(ld)
	v.scaleBy(ldw)
	for q := range w[1:] {
		LEAQ(Mem{Base: w[q], Index: ldw, Scale: 1}, w[q+1].(reg.GPVirtual))
	}
	// Points follow each other in c and sums, each with its coordinates.
	next := ldw
	MOVQ(rows, next)
	v.scaleBy(next)
	row := v.label("row")
	Label(row)
	at := GP64()
	overPoints := func(base reg.Register, body func(q int, m Mem)) {
		MOVQ(base, at)
		for q := range w {
			if q > 0 {
				ADDQ(next, at)
			}
			body(q, Mem{Base: at})
		}
	}
	ci, acc := v.regs(4), v.regs(4)
	overPoints(c, func(q int, m Mem) {
		v.broadcast(m, ci[q])
		v.zero(acc[q])
	})
	v.loop(n, 1, func(l step, _ int) {
		xs, d := l.load(x), l.load(dst)
		for q := range w {
			t, wq := v.reg(), l.load(w[q])
			v.sub(ci[q], xs, t)
			// Masked lanes hold ci·0, which is not zero if ci is infinite.
			if l.mask != nil {
				t = l.keep(t)
			}
			v.fmadd231(wq, t, acc[q])
			v.fmadd231(wq, t, d)
		}
		l.store(d, dst)
	}, nil)
	overPoints(sums, func(q int, m Mem) {
		v.reduce(acc[q], v.add)
		s := reg.VecVirtual(v.reg())
		v.zero(s)
		v.pick(VMOVSD, VMOVSS, m, s.AsX())
		v.add(acc[q], s, s)
		v.pick(VMOVSD, VMOVSS, s.AsX(), m)
	})
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

// kinds are the operands of the loops over elements of two kinds: element i is
// of kind k if its bit in bits[k] is set.
type kinds struct {
	vec
	bits [2]reg.Register
}

func (v vec) kinds() kinds { return kinds{v, [2]reg.Register{pointer("bits0"), pointer("bits1")}} }

// pair returns what a parameter points at: an element for each kind.
func (k kinds) pair(name string) [2]reg.VecVirtual {
	p, r := pointer(name), [2]reg.VecVirtual{k.reg(), k.reg()}
	for i := range r {
		k.broadcast(Mem{Base: p, Disp: i * k.size}, r[i])
	}
	return r
}

// masks returns the masks of the lanes of both kinds, within that of l.
func (k kinds) masks(l step) (m [2]reg.Register) {
	at := GP64()
	LEAQ(Mem{Base: l.i, Disp: l.off}, at)
	half := l.double() && !l.wide // a vector has half a byte
	shift := GP64()
	if half {
		MOVQ(at, shift)
		ANDQ(Imm(4), shift)
	}
	SHRQ(Imm(3), at)
	for i, p := range k.bits {
		from := Mem{Base: p, Index: at, Scale: 1}
		if l.wide {
			m[i] = K()
			if l.double() {
				KMOVB(from, m[i])
			} else {
				KMOVW(from, m[i])
			}
			if l.mask != nil {
				KANDW(l.mask, m[i], m[i])
			}
			continue
		}
		b, r := GP64(), YMM()
		m[i] = r
		MOVBQZX(from, b)
		if half {
			SHRXQ(shift, b, b)
			VMOVQ(b, r.AsX())
			VPBROADCASTQ(r.AsX(), r)
			lanes := NewDataAddr(NewStaticSymbol("laneBits"), 32)
			VPAND(lanes, r, r)
			VPCMPEQQ(lanes, r, r)
		} else {
			VMOVQ(b, r.AsX())
			VPBROADCASTD(r.AsX(), r)
			lanes := NewDataAddr(NewStaticSymbol("laneBits"), 0)
			VPAND(lanes, r, r)
			VPCMPEQD(lanes, r, r)
		}
		if l.mask != nil {
			VPAND(l.mask, r, r)
		}
	}
	return m
}

// A splitter adds elements less their origin, and the squares of that, apart
// for each kind.
type splitter struct {
	kinds
	origin       [2]reg.VecVirtual
	sum, squares []reg.VecVirtual
}

func (v vec) splitter() splitter {
	k := v.kinds()
	s := splitter{k, k.pair("origin"), v.regs(2), v.regs(2)}
	for i := range s.sum {
		v.zero(s.sum[i])
		v.zero(s.squares[i])
	}
	return s
}

func (s splitter) add(l step, x reg.VecVirtual) {
	for i, mask := range s.masks(l) {
		e := s.reg()
		s.sub(s.origin[i], x, e)
		if s.wide {
			s.pick(VADDPD, VADDPS, e, s.sum[i], mask, s.sum[i])
			s.pick(VFMADD231PD, VFMADD231PS, e, e, mask, s.squares[i])
			continue
		}
		VANDPS(e, mask, e)
		s.vec.add(e, s.sum[i], s.sum[i])
		s.fmadd231(e, e, s.squares[i])
	}
}

// store stores the two sums and then those of squares.
func (s splitter) store() {
	sums := pointer("sums")
	for i, r := range append(s.sum, s.squares...) {
		s.reduce(r, s.vec.add)
		s.pick(VMOVSD, VMOVSS, r.AsX(), Mem{Base: sums, Disp: i * s.size})
	}
}

func kindSums(v vec) {
	s := v.splitter()
	x := pointer("x")
	v.loop(pointer("n"), 2, func(l step, _ int) { s.add(l, l.load(x)) }, nil)
	s.store()
}

func kindDistances(v vec) {
	s := v.splitter()
	overSquares(v, func(l step, squares reg.VecVirtual) { s.add(l, v.root(squares, false)) })
	s.store()
}

// affine returns add + mul·x, by the kind, and 0 for elements of no kind.
func (k kinds) affine(l step, add, mul [2]reg.VecVirtual, x reg.VecVirtual) reg.VecVirtual {
	m := k.masks(l)
	if k.wide {
		r := k.reg()
		if k.double() {
			VMOVAPD_Z(add[0], m[0], r)
		} else {
			VMOVAPS_Z(add[0], m[0], r)
		}
		k.pick(VMOVAPD, VMOVAPS, add[1], m[1], r)
		k.pick(VFMADD231PD, VFMADD231PS, x, mul[0], m[0], r)
		k.pick(VFMADD231PD, VFMADD231PS, x, mul[1], m[1], r)
		return r
	}
	var r [2]reg.VecVirtual
	for i := range r {
		r[i] = k.reg()
		VMOVAPS(add[i], r[i])
		k.fmadd231(mul[i], x, r[i])
		VANDPS(r[i], m[i], r[i])
	}
	VORPS(r[1], r[0], r[0])
	return r[0]
}

func kindAffine(v vec) {
	k := v.kinds()
	dst, x, add, mul := pointer("dst"), pointer("x"), k.pair("add"), k.pair("mul")
	v.loop(pointer("n"), 2, func(l step, _ int) { l.store(k.affine(l, add, mul, l.load(x)), dst) }, nil)
}

func kindInvDistances(v vec) {
	k := v.kinds()
	dst, add, mul := pointer("dst"), k.pair("add"), k.pair("mul")
	overSquares(v, func(l step, s reg.VecVirtual) { l.store(k.affine(l, add, mul, v.root(s, true)), dst) })
}
