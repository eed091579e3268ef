// Command _gen writes the assembly of package stencil. Products are rounded before
// they are added, so that all tiers give the same bits.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/asm"
)

func main() {
	Files(func() {
		fixed := ISA{Wide: true, Size: 8}
		for _, f := range []struct {
			name, doc, args, fixedArgs string
			body                       func(number)
		}{
			{"leap", "is Leap for n columns.", "dst, m, u0, u1, u2, u3, u4 *T", "dst, m, u0, u1, u2, u3, u4 *int64", leap},
			{"addMul", "is AddMul for n columns.", "dst, m, u0, u1, u2, u3, u4 *T", "dst, m, u0, u1, u2, u3, u4 *int64", addMul},
			{"leapBack", "is LeapBack for n columns.", "dst, v, u0, u1, u2, u3, u4 *T", "dst, v *int64, u0, u1, u2, u3, u4 *float64", leapBack},
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

// sumTo makes a the sum of a and what lies at m.
func (v number) sumTo(a VecVirtual, m Mem, k *Mask, fixed bool) {
	v.Add(number{v.ISA, fixed}.float(m, k), a, a)
}

// A grid is a row of a grid with its neighbours, as floats or as fixed-point numbers.
type grid struct {
	rows  [5]GPVirtual
	fixed bool
}

func newGrid(fixed bool) grid {
	return grid{[5]GPVirtual{Arg("u0"), Arg("u1"), Arg("u2"), Arg("u3"), Arg("u4")}, fixed}
}

// laplace returns Lu, and u as it is stored.
func (v number) laplace(u grid, l Step) (lap, center VecVirtual) {
	row := func(i, j int) Mem { return l.At(u.rows[i]).Offset(j * v.Size) }
	in := number{v.ISA, u.fixed}
	s := in.float(row(2, -1), l.Mask)
	v.sumTo(s, row(2, 1), l.Mask, u.fixed)
	a := in.float(row(1, 0), l.Mask)
	v.sumTo(a, row(3, 0), l.Mask, u.fixed)
	v.Add(a, s, s)
	t := in.float(row(2, -2), l.Mask)
	v.sumTo(t, row(2, 2), l.Mask, u.fixed)
	a = in.float(row(0, 0), l.Mask)
	v.sumTo(a, row(4, 0), l.Mask, u.fixed)
	v.Add(a, t, t)
	v.Mul(v.Const(4./3), s, s)
	v.Mul(v.Const(-1./12), t, t)
	v.Add(t, s, s)
	center = v.Load(row(2, 0), l.Mask)
	c := v.Reg()
	if u.fixed {
		VCVTQQ2PD(center, c)
		v.Mul(v.Const(-5), c, c)
	} else {
		v.Mul(v.Const(-5), center, c)
	}
	v.Add(c, s, s)
	return s, center
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
	v.Loop(Arg("n"), 1, func(l Step, _ int) {
		s, c := v.laplace(u, l)
		a := v.float(l.At(m), l.Mask)
		if v.fixed {
			v.Mul(v.Const(0x1p-43), a, a)
		}
		v.Mul(a, s, s)
		if !leap {
			c = nil
		}
		v.accumulate(s, l.At(dst), c, l.Mask)
	}, nil)
}

func leapBack(v number) {
	dst, w, u := Arg("dst"), Arg("v"), newGrid(false)
	v.Loop(Arg("n"), 1, func(l Step, _ int) {
		s, _ := v.laplace(u, l)
		v.accumulate(s, l.At(dst), v.Load(l.At(w), l.Mask), l.Mask)
	}, nil)
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
