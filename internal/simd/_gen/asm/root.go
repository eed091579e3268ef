package asm

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A Series is what 1/√s and √s are made of on AVX-512: y = 1/√s to 14 bits, t = s·y,
// e = 1 - t·y, and p so that
//
//	1/√s = y·(1 - e)^-½ = y + y·e·p,  p = 1/2 + 3e/8 + 5e²/16 + ...
//
// As e is below 2⁻¹³, p needs three terms, or two for float32. That takes less time than
// the instruction for √s.
type Series struct{ Y, T, E, P VecVirtual }

// NewSeries returns the series for s, or for max(s, least) if least is not 0. s becomes
// that.
func (g ISA) NewSeries(s VecVirtual, least float64) Series {
	r := Series{g.Reg(), g.Reg(), g.Reg(), g.Reg()}
	if least != 0 {
		g.Mov(g.Const(least), r.T)
		Pick(g, VMAXPD, VMAXPS)(s, r.T, s) // NaN if s is
	}
	Pick(g, VRSQRT14PD, VRSQRT14PS)(s, r.Y)
	g.Mul(s, r.Y, r.T)
	g.Mov(g.Const(1), r.E)
	g.Fnmadd231(r.Y, r.T, r.E)
	if g.Double() {
		g.Mov(g.Const(0.3125), r.P)
		g.Fmadd213(g.Const(0.375), r.E, r.P)
	} else {
		g.Mov(g.Const(0.375), r.P)
	}
	g.Fmadd213(g.Const(0.5), r.E, r.P)
	return r
}

// Root returns √s.
func (g ISA) Root(s VecVirtual) VecVirtual {
	if !g.Wide {
		r := g.Reg()
		Pick(g, VSQRTPD, VSQRTPS)(s, r)
		return r
	}
	v := g.NewSeries(s, 0)
	g.Mul(v.E, v.P, v.P)
	g.Fmadd231(v.T, v.P, v.T)
	g.fixUp(0x100100, s, v.T)
	return v.T
}

// InverseRoot returns 1/√s, and 0 where s is 0.
func (g ISA) InverseRoot(s VecVirtual) VecVirtual {
	if !g.Wide {
		r, one := g.Root(s), g.CopyOf(g.Const(1))
		zero := g.Zeros(1)[0]
		g.Div(r, one, r)
		g.Choose(EQ, zero, s, zero, r)
		return r
	}
	v := g.NewSeries(s, 0)
	g.Mul(v.E, v.P, v.P)
	g.Fmadd231(v.Y, v.P, v.Y)
	g.fixUp(0x800800, s, v.Y)
	return v.Y
}

// fixUp replaces the elements of dst where s has a special value. classes has four bits for
// each class of s, from NaN on: keep dst (0), take s (1), or take zero (8). Zero is the
// third class, infinity the sixth.
func (g ISA) fixUp(classes uint32, s, dst VecVirtual) {
	if g.Double() {
		VFIXUPIMMPD(Imm(0), Entry(U64(classes)), s, dst)
	} else {
		VFIXUPIMMPS(Imm(0), Entry(U32(classes)), s, dst)
	}
}
