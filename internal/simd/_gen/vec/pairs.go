package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// overRows runs body for each row of a column of differences; body gets the
// addresses of the row of x and of c, and of the row of y and of e if there
// are such.
func overRows(v vec, ld reg.Register, x, c, y, e reg.Register, body func(x reg.Register, c Mem, y reg.Register, e Mem)) {
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
	row := Unique("row")
	Label(row)
	body(xRow, Mem{Base: c, Index: k, Scale: uint8(v.size)}, yRow, eAt)
	ADDQ(ld, xRow)
	if y != nil {
		ADDQ(ld, yRow)
	}
	INCQ(k)
	CMPQ(k, ArgAddr("rows"))
	JL(LabelRef(row))
}

// overSquares runs body for each vector of squared distances.
func overSquares(v vec, body func(l step, squares reg.VecVirtual)) {
	n, x, ldx, c := Arg("n"), Arg("x"), Arg("ldx"), Arg("c")
	v.ToBytes(ldx)
	v.groups(n, 4, func(ls []step) {
		sums := v.Regs(len(ls))
		for _, s := range sums {
			v.zero(s)
		}
		overRows(v, ldx, x, c, nil, nil, func(x reg.Register, c Mem, _ reg.Register, _ Mem) {
			ci := v.Reg()
			v.BroadcastTo(c, ci)
			for u, l := range ls {
				t := l.load(x)
				v.Sub(ci, t, t)
				v.Fmadd231(t, t, sums[u])
			}
		})
		for u, l := range ls {
			body(l, sums[u])
		}
	}, nil)
}

func distances(v vec) {
	dst := Arg("dst")
	overSquares(v, func(l step, s reg.VecVirtual) { l.store(v.root(s, false), dst) })
}

func invDistances(v vec) {
	dst := Arg("dst")
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
	if !v.Wide {
		r := v.Reg()
		Pick(v, VSQRTPD, VSQRTPS)(s, r)
		if inverse {
			one, zero := v.Reg(), v.Reg()
			VMOVUPS(v.constant(1), one)
			v.zero(zero)
			Pick(v, VDIVPD, VDIVPS)(r, one, r)
			v.choose(equal, zero, s, zero, r)
		}
		return r
	}
	y, t, e, p := v.Reg(), v.Reg(), v.Reg(), v.Reg()
	Pick(v, VRSQRT14PD, VRSQRT14PS)(s, y)
	v.Mul(s, y, t)
	VMOVUPS(v.constant(1), e)
	v.Fnmadd231(y, t, e)
	if v.Double() {
		VMOVUPS(v.constant(0.3125), p)
		v.Fmadd213(v.constant(0.375), e, p)
	} else {
		VMOVUPS(v.constant(0.375), p)
	}
	v.Fmadd213(v.constant(0.5), e, p)
	v.Mul(e, p, p)
	// For the classes of s by bits of four, from NaN on: what stands there (0), s
	// (1) or zero (8). Zero has the third, infinity the sixth.
	if inverse {
		v.Fmadd231(y, p, y)
		v.fixUp(0x800800, s, y)
		return y
	}
	v.Fmadd231(t, p, t)
	v.fixUp(0x100100, s, t)
	return t
}

// fixUp replaces the elements of dst where s has a special value by what classes
// says.
func (v vec) fixUp(classes uint32, s, dst reg.VecVirtual) {
	if v.Double() {
		VFIXUPIMMPD(Imm(0), table.Entry(U64(classes)), s, dst)
	} else {
		VFIXUPIMMPS(Imm(0), table.Entry(U32(classes)), s, dst)
	}
}

func diffDots(v vec) {
	n, dst, x, ld, c := Arg("n"), Arg("dst"), Arg("x"), Arg("ld"), Arg("c")
	y, e := Arg("y"), Arg("e")
	v.ToBytes(ld)
	v.groups(n, 2, func(ls []step) {
		sums := v.Regs(len(ls))
		for _, s := range sums {
			v.zero(s)
		}
		overRows(v, ld, x, c, y, e, func(x reg.Register, c Mem, y reg.Register, e Mem) {
			ci, ei := v.Reg(), v.Reg()
			v.BroadcastTo(c, ci)
			v.BroadcastTo(e, ei)
			for k, l := range ls {
				t, u := l.load(x), l.load(y)
				v.Sub(ci, t, t)
				v.Sub(ei, u, u)
				v.Fmadd231(u, t, sums[k])
			}
		})
		for u, l := range ls {
			l.store(sums[u], dst)
		}
	}, nil)
}

// addDiffs keeps what a row of x takes of the four points in registers.
func addDiffs(v vec) {
	n, dst, x, ld, c := Arg("n"), Arg("dst"), Arg("x"), Arg("ld"), Arg("c")
	ldw, sums, rows := Arg("ldw"), Arg("sums"), Arg("rows")
	w := [4]reg.Register{Arg("w"), GP64(), GP64(), GP64()}
	v.ToBytes(ld)
	v.ToBytes(ldw)
	for q := range w[1:] {
		LEAQ(Mem{Base: w[q], Index: ldw, Scale: 1}, w[q+1].(reg.GPVirtual))
	}
	// Points follow each other in c and sums, each with its coordinates.
	next := ldw
	MOVQ(rows, next)
	v.ToBytes(next)
	row := Unique("row")
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
	ci, acc := v.Regs(4), v.Regs(4)
	overPoints(c, func(q int, m Mem) {
		v.BroadcastTo(m, ci[q])
		v.zero(acc[q])
	})
	v.loop(n, 1, func(l step, _ int) {
		xs, d := l.load(x), l.load(dst)
		for q := range w {
			t, wq := v.Reg(), l.load(w[q])
			v.Sub(ci[q], xs, t)
			// Masked lanes hold ci·0, which is not zero if ci is infinite.
			if l.mask != nil {
				t = l.keep(t)
			}
			v.Fmadd231(wq, t, acc[q])
			v.Fmadd231(wq, t, d)
		}
		l.store(d, dst)
	}, nil)
	overPoints(sums, func(q int, m Mem) {
		v.Reduce(acc[q], v.Add)
		s := reg.VecVirtual(v.Reg())
		v.zero(s)
		Pick(v, VMOVSD, VMOVSS)(m, s.AsX())
		v.Add(acc[q], s, s)
		Pick(v, VMOVSD, VMOVSS)(s.AsX(), m)
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
	t := l.Reg()
	switch {
	case l.Wide && l.Double():
		VMOVAPD_Z(r, l.mask, t)
	case l.Wide:
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

func (v vec) kinds() kinds { return kinds{v, [2]reg.Register{Arg("bits0"), Arg("bits1")}} }

// pair returns what a parameter points at: an element for each kind.
func (k kinds) pair(name string) [2]reg.VecVirtual {
	p := Arg(name)
	return [2]reg.VecVirtual{k.Broadcast(Mem{Base: p}), k.Broadcast(Mem{Base: p, Disp: k.size})}
}

// masks returns the masks of the lanes of both kinds, within that of l.
func (k kinds) masks(l step) (m [2]reg.Register) {
	at := GP64()
	LEAQ(Mem{Base: l.i, Disp: l.off}, at)
	half := l.Double() && !l.Wide // a vector has half a byte
	shift := GP64()
	if half {
		MOVQ(at, shift)
		ANDQ(Imm(4), shift)
	}
	SHRQ(Imm(3), at)
	for i, p := range k.bits {
		from := Mem{Base: p, Index: at, Scale: 1}
		if l.Wide {
			m[i] = K()
			if l.Double() {
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
	s := splitter{k, k.pair("origin"), v.Regs(2), v.Regs(2)}
	for i := range s.sum {
		v.zero(s.sum[i])
		v.zero(s.squares[i])
	}
	return s
}

func (s splitter) add(l step, x reg.VecVirtual) {
	for i, mask := range s.masks(l) {
		e := s.Reg()
		s.Sub(s.origin[i], x, e)
		if s.Wide {
			Pick(s, VADDPD, VADDPS)(e, s.sum[i], mask, s.sum[i])
			Pick(s, VFMADD231PD, VFMADD231PS)(e, e, mask, s.squares[i])
			continue
		}
		VANDPS(e, mask, e)
		s.Add(e, s.sum[i], s.sum[i])
		s.Fmadd231(e, e, s.squares[i])
	}
}

// store stores the two sums and then those of squares.
func (s splitter) store() {
	sums := Arg("sums")
	for i, r := range append(s.sum, s.squares...) {
		s.Reduce(r, s.Add)
		Pick(s, VMOVSD, VMOVSS)(r.AsX(), Mem{Base: sums, Disp: i * s.size})
	}
}

func kindSums(v vec) {
	s := v.splitter()
	x := Arg("x")
	v.loop(Arg("n"), 2, func(l step, _ int) { s.add(l, l.load(x)) }, nil)
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
	if k.Wide {
		r := k.Reg()
		if k.Double() {
			VMOVAPD_Z(add[0], m[0], r)
		} else {
			VMOVAPS_Z(add[0], m[0], r)
		}
		Pick(k, VMOVAPD, VMOVAPS)(add[1], m[1], r)
		Pick(k, VFMADD231PD, VFMADD231PS)(x, mul[0], m[0], r)
		Pick(k, VFMADD231PD, VFMADD231PS)(x, mul[1], m[1], r)
		return r
	}
	var r [2]reg.VecVirtual
	for i := range r {
		r[i] = k.Reg()
		VMOVAPS(add[i], r[i])
		k.Fmadd231(mul[i], x, r[i])
		VANDPS(r[i], m[i], r[i])
	}
	VORPS(r[1], r[0], r[0])
	return r[0]
}

func kindAffine(v vec) {
	k := v.kinds()
	dst, x, add, mul := Arg("dst"), Arg("x"), k.pair("add"), k.pair("mul")
	v.loop(Arg("n"), 2, func(l step, _ int) { l.store(k.affine(l, add, mul, l.load(x)), dst) }, nil)
}

func kindInvDistances(v vec) {
	k := v.kinds()
	dst, add, mul := Arg("dst"), k.pair("add"), k.pair("mul")
	overSquares(v, func(l step, s reg.VecVirtual) { l.store(k.affine(l, add, mul, v.root(s, true)), dst) })
}
