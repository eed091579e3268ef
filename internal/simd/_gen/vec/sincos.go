package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// --- Sines and cosines -----------------------------------------------------

// What each step is for stands in generic.go.

const (
	magic = 0x1.8p52
	most  = 1 << 20
)

// The numbers of generic.go.
var (
	twoOverPi = 0x1.45f306dc9c883p-1
	halfPi    = []float64{0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69}
	sinC      = []float64{
		-0x1.5555555555549p-3, 0x1.111111110f8a6p-7, -0x1.a01a019c161d5p-13,
		0x1.71de357b1fe7dp-19, -0x1.ae5e68a2b9cebp-26, 0x1.5d93a5acfd57cp-33,
	}
	cosC = []float64{
		0x1.555555555554cp-5, -0x1.6c16c16c15177p-10, 0x1.a01a019cb159p-16,
		-0x1.27e4f809c52adp-22, 0x1.1ee9ebdb4b1c4p-29, -0x1.8fae9be8838d4p-37,
	}
)

func (v vec) sinCos() {
	loop, whole, begin, done := Unique("loop"), Unique("whole"), Unique("body"), Unique("done")
	lanes := v.Lanes()
	sin, cos, x, n := Arg("sin"), Arg("cos"), Arg("x"), Arg("n")
	i, rest := GP64(), GP64()
	XORQ(i, i)
	var k, y Register
	if v.Wide {
		k = K()
		t := GP64()
		MOVQ(I32(-1), t)
		KMOVW(t.As32(), k)
	} else {
		y = YMM()
	}
	Label(loop)
	MOVQ(n, rest)
	SUBQ(i, rest)
	JLE(LabelRef(done))
	CMPQ(rest, Imm(uint64(lanes)))
	JGE(LabelRef(whole))
	if v.Wide {
		FirstLanes(rest, k)
		JMP(LabelRef(begin))
		Label(whole)
		Label(begin)
	} else {
		t := GP64()
		NEGQ(rest)
		LEAQ(NewDataAddr(NewStaticSymbol("mask"), 32), t)
		VMOVDQU(Mem{Base: t, Index: rest, Scale: uint8(v.size)}, y)
		JMP(LabelRef(begin))
		Label(whole)
		LEAQ(NewDataAddr(NewStaticSymbol("mask"), 0), t)
		VMOVDQU(Mem{Base: t}, y)
		Label(begin)
	}
	at := func(p Register) Mem { return Mem{Base: p, Index: i, Scale: uint8(v.size)} }
	load := func() VecVirtual {
		r := v.Reg()
		switch {
		case v.Wide && v.size == 8:
			VMOVUPD_Z(at(x), k, r)
		case v.Wide:
			VCVTPS2PD_Z(at(x), k, r)
		case v.size == 8:
			VMASKMOVPD(at(x), y, r)
		default:
			VMASKMOVPS(at(x), y.(VecVirtual).AsX(), r.AsX())
			VCVTPS2PD(r.AsX(), r)
		}
		return r
	}
	store := func(r VecVirtual, p Register) {
		switch {
		case v.Wide && v.size == 8:
			VMOVUPD(r, k, at(p))
		case v.Wide:
			VCVTPD2PS(r, r.AsY())
			VMOVUPS(r.AsY(), k, at(p))
		case v.size == 8:
			VMASKMOVPD(r, y, at(p))
		default:
			VCVTPD2PSY(r, r.AsX())
			VMASKMOVPS(r.AsX(), y.(VecVirtual).AsX(), at(p))
		}
	}

	a := load()
	abs := v.Reg()
	VANDPD(entry(1<<63-1), a, abs)
	const notLessOrEqual = 0x16 // or NaN
	if v.Wide {
		large := K()
		VCMPPD(Imm(notLessOrEqual), v.constant(most), abs, large)
		KORTESTW(large, large)
	} else {
		signs := GP32()
		VCMPPD(Imm(notLessOrEqual), v.constant(most), abs, abs)
		VMOVMSKPD(abs, signs)
		TESTL(signs, signs)
	}
	JNZ(LabelRef(done))

	quadrant, kd := v.Reg(), v.Reg()
	VMULPD(v.constant(twoOverPi), a, quadrant)
	VADDPD(v.constant(magic), quadrant, quadrant)
	VSUBPD(v.constant(magic), quadrant, kd)

	t, r, e := v.Reg(), v.Reg(), v.Reg()
	VMULPD(v.constant(halfPi[0]), kd, t)
	VSUBPD(t, a, a)
	VMULPD(v.constant(halfPi[1]), kd, t)
	VSUBPD(t, a, r)
	VSUBPD(r, a, e)
	VSUBPD(t, e, e)
	VMULPD(v.constant(halfPi[2]), kd, t)
	VSUBPD(e, t, t)
	VSUBPD(t, r, r)

	z := v.Reg()
	VMULPD(r, r, z)
	sp, cp := v.Reg(), v.Reg()
	VMOVUPD(v.constant(sinC[5]), sp)
	VMOVUPD(v.constant(cosC[5]), cp)
	for j := 4; j >= 0; j-- {
		VMULPD(z, sp, sp)
		VADDPD(v.constant(sinC[j]), sp, sp)
		VMULPD(z, cp, cp)
		VADDPD(v.constant(cosC[j]), cp, cp)
	}
	VMULPD(r, z, t)
	VMULPD(t, sp, sp)
	VADDPD(r, sp, sp) // sin r

	h, w := v.Reg(), v.Reg()
	VMULPD(v.constant(0.5), z, h)
	VMOVUPD(v.constant(1), w)
	VSUBPD(h, w, w)
	VMOVUPD(v.constant(1), t)
	VSUBPD(w, t, t)
	VSUBPD(h, t, t)
	VMULPD(z, z, h)
	VMULPD(h, cp, cp)
	VADDPD(t, cp, cp)
	VADDPD(w, cp, cp) // cos r

	// Bit 0 of the quadrant exchanges the two; bit 1 is the sign of the sine,
	// bit 1 of the next quadrant that of the cosine.
	odd, s, c := v.Reg(), v.Reg(), v.Reg()
	VPSLLQ(Imm(63), quadrant, odd)
	if v.Wide {
		swap := K()
		VPMOVQ2M(odd, swap)
		VBLENDMPD(cp, sp, swap, s)
		VBLENDMPD(sp, cp, swap, c)
	} else {
		VBLENDVPD(odd, cp, sp, s)
		VBLENDVPD(odd, sp, cp, c)
	}
	sign := v.Reg()
	VPSRLQ(Imm(1), quadrant, sign)
	VPSLLQ(Imm(63), sign, sign)
	VXORPD(sign, s, s)
	VXORPD(odd, sign, sign)
	VXORPD(sign, c, c)
	store(s, sin)
	store(c, cos)
	ADDQ(Imm(uint64(lanes)), i)
	JMP(LabelRef(loop))
	Label(done)
	MOVQ(i, Result())
}
