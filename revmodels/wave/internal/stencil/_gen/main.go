// Command _gen writes the assembly of package stencil. Products are rounded before
// they are added, so that all tiers give the same bits.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// strides is about the arguments of loops over rows.
const strides = ` Strides are in bytes. On
AVX-512 these are all columns of a grid, and on other tiers inner ones.`

func main() {
	Files(func() {
		fixed := ISA{Wide: true, Size: 8}
		for _, f := range []struct {
			name, doc, args, fixedArgs string
			body                       func(number)
		}{
			{"leap", "is Leap for n columns of some rows." + strides, "dst, m, u0, u1, u2, u3, u4 *T, dstStride, mStride, stride, rows int", "dst, m, u0, u1, u2, u3, u4 *int64, dstStride, mStride, stride, rows int", leap},
			{"addMul", "is AddMul for n columns of some rows." + strides, "dst, m, u0, u1, u2, u3, u4 *T, dstStride, mStride, stride, rows int", "dst, m, u0, u1, u2, u3, u4 *int64, dstStride, mStride, stride, rows int", addMul},
			{"leapBack", "is LeapBack for n columns of some rows." + strides, "dst, v, u0, u1, u2, u3, u4 *T, dstStride, mStride, stride, rows int", "dst, v *int64, u0, u1, u2, u3, u4 *float64, dstStride, mStride, stride, rows int", leapBack},
			{"mul", "is Mul for n columns.", "", "dst *float64, a, b *int64", mul},
		} {
			if f.args != "" {
				Floats(f.name, "func("+f.args+", n int)", f.doc, func(g ISA) { f.body(number{g, false}) })
			}
			Func(f.name+"Fixed", Variant{Tier: fixed.Tier()}, "func("+f.fixedArgs+", n int)", f.doc, func() { f.body(number{fixed, true}) })
		}
	})
}

// A number is a tier with a type of elements: floats, or integers in units of 2⁻⁴³ that
// are computed with in float64.
type number struct {
	ISA
	fixed bool
}

// float loads numbers as floats.
func (v number) float(m Mem, k *Mask) VecVirtual {
	r := v.Load(m, k)
	if v.fixed {
		VCVTQQ2PD(r, r)
	}
	return r
}

// A grid is a row of a grid with its neighbours, as floats or as fixed-point numbers.
type grid struct {
	rows  [5]GPVirtual
	fixed bool
}

func newGrid(fixed bool) grid {
	return grid{[5]GPVirtual{Arg("u0"), Arg("u1"), Arg("u2"), Arg("u3"), Arg("u4")}, fixed}
}

// at returns where the elements of a row of the grid are that are j columns after those of l.
func (u grid) at(l Step, row, j int) Mem { return l.At(u.rows[row]).Offset(j * l.Size) }

// pair returns the sum of what lies at a and b.
func (v number) pair(a, b Mem, k *Mask) VecVirtual {
	s := v.float(a, k)
	v.Add(v.float(b, k), s, s)
	return s
}

// laplace returns Lu from u, and from the sums of the neighbours of its row and of those next but
// one.
func (v number) laplace(u grid, l Step, center, s, t VecVirtual) VecVirtual {
	in := number{v.ISA, u.fixed}
	v.Add(in.pair(u.at(l, 1, 0), u.at(l, 3, 0), l.Mask), s, s)
	v.Add(in.pair(u.at(l, 0, 0), u.at(l, 4, 0), l.Mask), t, t)
	v.Mul(v.Const(4./3), s, s)
	v.Mul(v.Const(-1./12), t, t)
	v.Add(t, s, s)
	c := v.Reg()
	v.Mul(v.Const(-5), center, c)
	v.Add(c, s, s)
	return s
}

// accumulate adds a to what lies at dst. If c is not nil, it adds it to 2·c less what
// lies at dst.
func (v number) accumulate(a VecVirtual, dst Mem, c VecVirtual, k *Mask) {
	add, sub := v.Add, v.Sub
	if v.fixed {
		VCVTPD2QQ(a, a)
		add = func(b, a, dst Op) { VPADDQ(b, a, dst) }
		sub = func(b, a, dst Op) { VPSUBQ(b, a, dst) }
	}
	d := v.Load(dst, k)
	if c != nil {
		twice := v.Reg()
		add(c, c, twice)
		sub(d, twice, d)
	}
	add(a, d, d)
	v.Store(d, dst, k)
}

func leap(v number)   { addTo(v, true) }
func addMul(v number) { addTo(v, false) }

func addTo(v number, leap bool) {
	dst, m, u := Arg("dst"), Arg("m"), newGrid(v.fixed)
	v.rows(u, []GPVirtual{dst, m}, func(l Step, lap, center VecVirtual) {
		a := v.float(l.At(m), l.Mask)
		if v.fixed {
			v.Mul(v.Const(0x1p-43), a, a)
		}
		v.Mul(a, lap, lap)
		switch {
		case !leap:
			center = nil
		case v.fixed:
			center = v.Load(u.at(l, 2, 0), l.Mask)
		}
		v.accumulate(lap, l.At(dst), center, l.Mask)
	})
}

func leapBack(v number) {
	dst, w, u := Arg("dst"), Arg("v"), newGrid(false)
	v.rows(u, []GPVirtual{dst, w}, func(l Step, lap, _ VecVirtual) {
		v.accumulate(lap, l.At(dst), v.Load(l.At(w), l.Mask), l.Mask)
	})
}

// rows runs body over the vectors of some rows, with Lu and u. The rows of others are a stride apart.
func (v number) rows(u grid, others []GPVirtual, body func(l Step, lap, center VecVirtual)) {
	n := Arg("n")
	Times(Arg("rows"), func() {
		if v.Wide {
			v.wholeRow(u, n, body)
		} else {
			v.Loop(n, 1, func(l Step, _ int) {
				center := v.float(u.at(l, 2, 0), l.Mask)
				s, t := v.pair(u.at(l, 2, -1), u.at(l, 2, 1), l.Mask), v.pair(u.at(l, 2, -2), u.at(l, 2, 2), l.Mask)
				body(l, v.laplace(u, l, center, s, t), center)
			}, nil)
		}
		ADDQ(ArgAddr("dstStride"), others[0])
		ADDQ(ArgAddr("mStride"), others[1])
		for _, row := range u.rows {
			ADDQ(ArgAddr("stride"), row)
		}
	})
}

// wholeRow runs body over the vectors of a row of n > 0 columns, with 0 one column outside the grid
// and the opposite of the edge two columns from it. It loads each vector of the row once, and shifts
// it for the neighbours: loads of vectors across cache lines take twice as long.
func (v number) wholeRow(u grid, n GPVirtual, body func(l Step, lap, center VecVirtual)) {
	in := number{v.ISA, u.fixed}
	w, row := v.Lanes(), u.rows[2]
	move, zero := Pick(v, VMOVAPD, VMOVAPS), Pick(v, VMOVAPD_Z, VMOVAPS_Z)
	mirror := func(m Mem) VecVirtual {
		r := v.Reg()
		if u.fixed {
			VPBROADCASTQ(m, r)
			VCVTQQ2PD(r, r)
		} else {
			v.BroadcastTo(m, r)
		}
		v.Mul(v.Const(-1), r, r)
		return r
	}
	i, rest, bits := GP64(), GP64(), GP64()
	before, center, after, end := v.Reg(), v.Reg(), v.Reg(), mirror(Mem{Base: row, Index: n, Scale: uint8(v.Size), Disp: -v.Size})
	first, valid, last := K(), K(), K()
	MOVQ(U32(1<<(w-2)), bits)
	KMOVW(bits.As32(), first)
	zero(mirror(Mem{Base: row}), first, before)

	// beyond loads a vector whose first rest lanes are in the grid, if rest is not negative.
	beyond := func(l Step, to VecVirtual) {
		MOVQ(U32(1), bits) // the lane of the mirror is rest+1
		LEAQ(Mem{Base: rest, Disp: w + 1}, rest)
		SHLXQ(rest, bits, bits)
		SHRQ(U8(w), bits)
		KMOVW(bits.As32(), last)
		SHRQ(U8(1), bits) // before it there is a 0
		DECQ(bits)
		none := Unique("none")
		JNS(LabelRef(none))
		XORQ(bits, bits)
		Label(none)
		KMOVW(bits.As32(), valid)
		in.LoadTo(l.At(row), &Mask{K: valid}, to)
		if u.fixed {
			VCVTQQ2PD(to, to)
		}
		move(end, last, to)
	}
	turn := func(l Step) {
		shifted := func(by int, lo, hi VecVirtual) VecVirtual {
			r := v.Reg()
			Pick(v, VALIGNQ, VALIGND)(U8(by), lo, hi, r)
			return r
		}
		s, t := shifted(w-1, before, center), shifted(w-2, before, center)
		v.Add(shifted(1, center, after), s, s)
		v.Add(shifted(2, center, after), t, t)
		body(l, v.laplace(u, l, center, s, t), center)
		v.Mov(center, before)
		v.Mov(after, center)
		ADDQ(Imm(uint64(w)), i)
	}
	inner, outer, test, begin := Unique("inner"), Unique("outer"), Unique("test"), Unique("begin")
	XORQ(i, i)
	MOVQ(n, rest)
	CMPQ(rest, Imm(uint64(w)))
	now := Step{ISA: v.ISA, I: i}
	next := Step{ISA: v.ISA, I: i, Off: w}
	JGE(LabelRef(begin))
	beyond(now, center)
	JMP(LabelRef(outer))
	Label(begin)
	v.Mov(in.float(now.At(row), nil), center)
	JMP(LabelRef(test))
	Label(inner)
	v.Mov(in.float(next.At(row), nil), after)
	turn(now)
	Label(test)
	LEAQ(Mem{Base: i, Disp: 2 * w}, rest)
	CMPQ(rest, n)
	JLE(LabelRef(inner))
	Label(outer)
	MOVQ(n, rest)
	SUBQ(i, rest)
	count := GP64()
	MOVQ(rest, count)
	mask := v.NewMask(count)
	SUBQ(Imm(uint64(w)), rest)
	beyond(next, after)
	turn(Step{ISA: v.ISA, I: i, Mask: mask})
	CMPQ(i, n)
	JL(LabelRef(outer))
}

func mul(v number) {
	dst, a, b := Arg("dst"), Arg("a"), Arg("b")
	v.Loop(Arg("n"), 1, func(l Step, _ int) {
		x := v.float(l.At(a), l.Mask)
		v.Mul(v.Const(0x1p-43), x, x)
		v.Mul(v.float(l.At(b), l.Mask), x, x)
		v.Store(x, l.At(dst), l.Mask)
	}, nil)
}
