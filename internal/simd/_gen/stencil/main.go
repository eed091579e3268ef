// Command stencil generates the assembly of package stencil. Products are rounded before
// they are added, so that all tiers give the same bits.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

func main() {
	Prefix = "stencil"
	Files("stencil", func() {
		for _, size := range []int{8, 4} {
			BothTiers(size, "leap", "func(dst, m, u0, u1, u2, u3, u4 *T, n int)", "is Leap for n columns.", func(g ISA) { leap(number{ISA: g}) })
			BothTiers(size, "addMul", "func(dst, m, u0, u1, u2, u3, u4 *T, n int)", "is AddMul for n columns.", func(g ISA) { addMul(number{ISA: g}) })
			BothTiers(size, "leapBack", "func(dst, v, u0, u1, u2, u3, u4 *T, n int)", "is LeapBack for n columns.", func(g ISA) { leapBack(number{ISA: g}) })
		}
		fixed := number{ISA{Wide: true, Size: 8}, true}
		for _, f := range []struct {
			name, sig, doc string
			body           func(number)
		}{
			{"leapFixed", "func(dst, m, u0, u1, u2, u3, u4 *int64, n int)", "is Leap for n columns.", leap},
			{"addMulFixed", "func(dst, m, u0, u1, u2, u3, u4 *int64, n int)", "is AddMul for n columns.", addMul},
			{"leapBackFixed", "func(dst, v *int64, u0, u1, u2, u3, u4 *float64, n int)", "is LeapBack for n columns.", leapBack},
			{"mulFixed", "func(dst *float64, a, b *int64, n int)", "is Mul for n columns.", mul},
		} {
			Func(f.name, Variant{Tier: fixed.Tier()}, f.sig, f.doc)
			f.body(fixed)
			VZEROUPPER()
			RET()
		}
		table.Emit()
	})
}

// table holds the constants in use.
var table = Table{Name: "stencilConstants"}

// A number is a tier with a type of elements: floats, or integers in units of 2⁻⁴³ that
// are computed with in float64.
type number struct {
	ISA
	fixed bool
}

// float loads numbers as floats.
func (v number) float(m Mem, k *Mask) reg.VecVirtual {
	r := v.Load(m, k)
	if v.fixed {
		VCVTQQ2PD(r, r)
	}
	return r
}

// sumTo makes a the sum of a and what lies at m.
func (v number) sumTo(a reg.VecVirtual, m Mem, k *Mask, fixed bool) {
	v.Add(number{v.ISA, fixed}.float(m, k), a, a)
}

// eachVector runs body for the vectors of n columns. The last is under a mask.
func (v number) eachVector(body func(at reg.Register, k *Mask)) {
	n, at := Arg("n"), GP64()
	XORQ(at, at)
	loop, tail, done := Unique("loop"), Unique("tail"), Unique("done")
	Label(loop)
	CMPQ(n, Imm(uint64(v.Lanes())))
	JL(LabelRef(tail))
	body(at, nil)
	ADDQ(Imm(uint64(v.Width())), at)
	SUBQ(Imm(uint64(v.Lanes())), n)
	JMP(LabelRef(loop))
	Label(tail)
	TESTQ(n, n)
	JZ(LabelRef(done))
	k := v.NewMask(n)
	body(at, k)
	Label(done)
}

// A grid is a row of a grid with its neighbours, as floats or as fixed-point numbers.
type grid struct {
	rows  [5]reg.GPVirtual
	fixed bool
}

func newGrid(fixed bool) grid {
	return grid{[5]reg.GPVirtual{Arg("u0"), Arg("u1"), Arg("u2"), Arg("u3"), Arg("u4")}, fixed}
}

// laplace returns Lu, and u as it is stored.
func (v number) laplace(u grid, at reg.Register, k *Mask) (lap, center reg.VecVirtual) {
	row := func(i, j int) Mem { return Mem{Base: u.rows[i], Index: at, Scale: 1, Disp: j * v.Size} }
	in := number{v.ISA, u.fixed}
	s := in.float(row(2, -1), k)
	v.sumTo(s, row(2, 1), k, u.fixed)
	a := in.float(row(1, 0), k)
	v.sumTo(a, row(3, 0), k, u.fixed)
	v.Add(a, s, s)
	t := in.float(row(2, -2), k)
	v.sumTo(t, row(2, 2), k, u.fixed)
	a = in.float(row(0, 0), k)
	v.sumTo(a, row(4, 0), k, u.fixed)
	v.Add(a, t, t)
	v.Mul(table.Float(v.ISA, 4./3), s, s)
	v.Mul(table.Float(v.ISA, -1./12), t, t)
	v.Add(t, s, s)
	center = v.Load(row(2, 0), k)
	c := v.Reg()
	if u.fixed {
		VCVTQQ2PD(center, c)
		v.Mul(table.Float(v.ISA, -5), c, c)
	} else {
		v.Mul(table.Float(v.ISA, -5), center, c)
	}
	v.Add(c, s, s)
	return s, center
}

// accumulate adds a to what lies at dst. If c is not nil, it adds it to 2·c less what
// lies at dst.
func (v number) accumulate(a reg.VecVirtual, dst Mem, c reg.VecVirtual, k *Mask) {
	add, sub := v.Add, v.Sub
	if v.fixed {
		VCVTPD2QQ(a, a)
		add = func(b, a, dst Op) { VPADDQ(b, a, dst) }
		sub = func(b, a, dst Op) { VPSUBQ(b, a, dst) }
	}
	d := v.Load(dst, k)
	if c != nil {
		add(c, c, c)
		sub(d, c, d)
	}
	add(a, d, d)
	v.Store(d, dst, k)
}

func leap(v number)   { addTo(v, true) }
func addMul(v number) { addTo(v, false) }

func addTo(v number, leap bool) {
	dst, m, u := Arg("dst"), Arg("m"), newGrid(v.fixed)
	v.eachVector(func(at reg.Register, k *Mask) {
		s, c := v.laplace(u, at, k)
		a := v.float(Mem{Base: m, Index: at, Scale: 1}, k)
		if v.fixed {
			v.Mul(table.Float(v.ISA, 0x1p-43), a, a)
		}
		v.Mul(a, s, s)
		if !leap {
			c = nil
		}
		v.accumulate(s, Mem{Base: dst, Index: at, Scale: 1}, c, k)
	})
}

func leapBack(v number) {
	dst, w, u := Arg("dst"), Arg("v"), newGrid(false)
	v.eachVector(func(at reg.Register, k *Mask) {
		s, _ := v.laplace(u, at, k)
		v.accumulate(s, Mem{Base: dst, Index: at, Scale: 1}, v.Load(Mem{Base: w, Index: at, Scale: 1}, k), k)
	})
}

func mul(v number) {
	dst, a, b := Arg("dst"), Arg("a"), Arg("b")
	v.eachVector(func(at reg.Register, k *Mask) {
		x := v.float(Mem{Base: a, Index: at, Scale: 1}, k)
		v.Mul(table.Float(v.ISA, 0x1p-43), x, x)
		v.Mul(v.float(Mem{Base: b, Index: at, Scale: 1}, k), x, x)
		v.Store(x, Mem{Base: dst, Index: at, Scale: 1}, k)
	})
}
