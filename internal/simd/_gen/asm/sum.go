package asm

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Like returns a new register of the size of v.
func Like(v VecVirtual) VecVirtual {
	switch v.Size() {
	case 16:
		return XMM()
	case 32:
		return YMM()
	}
	return ZMM()
}

// Upper returns the upper half of v.
func (g ISA) Upper(v VecVirtual) VecVirtual {
	u := XMM()
	switch {
	case v.Size() == 64:
		u = YMM()
		VEXTRACTF64X4(Imm(1), v, u)
	case g.Wide:
		VEXTRACTF64X2(Imm(1), v, u) // of registers from 16 on, too
	default:
		VEXTRACTF128(Imm(1), v, u)
	}
	return u
}

// Fold returns the sum of the halves of v.
func (g ISA) Fold(v VecVirtual) VecVirtual {
	u := g.Upper(v)
	if v.Size() == 64 {
		g.Add(u, v.AsY(), u)
	} else {
		g.Add(u, v.AsX(), u)
	}
	return u
}

// Neighbours returns the sums of neighbours of x and of y, in turn.
func (g ISA) Neighbours(x, y VecVirtual) VecVirtual {
	return g.unpacked(Pick(g, VUNPCKLPD, VUNPCKLPS), Pick(g, VUNPCKHPD, VUNPCKHPS), x, y)
}

func (g ISA) unpacked(lo, hi func(...Op), x, y VecVirtual) VecVirtual {
	l, h := Like(x), Like(x)
	lo(y, x, l)
	hi(y, x, h)
	g.Add(h, l, l)
	return l
}

// SumFour returns a register with the sums of the lanes of four vectors. a holds the
// sums of neighbours of the first two vectors, b of the other two. It adds in the order of
// Total.
func (g ISA) SumFour(a, b VecVirtual) VecVirtual {
	if !g.Double() {
		a = g.unpacked(VUNPCKLPD, VUNPCKHPD, a, b)
		for a.Size() > 16 {
			a = g.Fold(a)
		}
		return a
	}
	if a.Size() == 64 {
		a, b = g.Fold(a), g.Fold(b)
	}
	l, h := YMM(), YMM()
	if g.Wide {
		VSHUFF64X2(Imm(0), b, a, l) // of registers from 16 on, too
		VSHUFF64X2(Imm(3), b, a, h)
	} else {
		VPERM2F128(Imm(0x20), b, a, l)
		VPERM2F128(Imm(0x31), b, a, h)
	}
	g.Add(h, l, l)
	return l
}

// Total returns the sum of the lanes of v in lane 0 of a register: neighbours, then halves.
func (g ISA) Total(v VecVirtual) VecVirtual {
	h := g.Reg()
	if !g.Double() {
		VPERMILPS(U8(0b01_00_11_10), v, h)
		g.Add(h, v, v)
		VPERMILPS(U8(0b10_11_00_01), v, h)
	} else {
		VPERMILPD(U8(0b01010101), v, h)
	}
	g.Add(h, v, v)
	for v.Size() > 16 {
		v = g.Fold(v)
	}
	return v
}
