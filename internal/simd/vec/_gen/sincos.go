package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
	"revnum/internal/simd/vec/internal/coef"
)

// The comments of generic.go explain each step.

const (
	magic = 0x1.8p52
	most  = 1 << 20
)

func (v vec) sinCos() {
	sin, cos, x, n := Arg("sin"), Arg("cos"), Arg("x"), Arg("n")
	done := Unique("done")
	v.Groups(n, v.Unroll(1, 1, 3), func(ls []Step) {
		a := make([]VecVirtual, len(ls))
		for u, l := range ls {
			a[u] = l.Load(x)
			ok := Unique("ok")
			v.jumpUnlessLarge(a[u], ok)
			MOVQ(l.I, Result())
			JMP(LabelRef(done))
			Label(ok)
		}
		s, c := make([]VecVirtual, len(ls)), make([]VecVirtual, len(ls))
		for u := range ls {
			s[u], c[u] = v.sinCosOf(a[u])
		}
		for u, l := range ls {
			l.Store(s[u], sin)
			l.Store(c[u], cos)
		}
	}, nil)
	MOVQ(n, Result())
	Label(done)
}

// jumpUnlessLarge jumps unless an element is too large, infinite or NaN.
func (v vec) jumpUnlessLarge(a VecVirtual, label string) {
	abs := v.Reg()
	VANDPD(Bits(1<<63-1), a, abs)
	if v.Wide {
		large := K()
		VCMPPD(Imm(NLE), v.Const(most), abs, large)
		KORTESTW(large, large)
	} else {
		signs := GP32()
		VCMPPD(Imm(NLE), v.Const(most), abs, abs)
		VMOVMSKPD(abs, signs)
		TESTL(signs, signs)
	}
	JZ(LabelRef(label))
}

// sinCosOf returns the sine and the cosine of a, which it destroys.
func (v vec) sinCosOf(a VecVirtual) (s, c VecVirtual) {
	quadrant, kd := v.Reg(), v.Reg()
	VMULPD(v.Const(coef.TwoOverPi), a, quadrant)
	VADDPD(v.Const(magic), quadrant, quadrant)
	VSUBPD(v.Const(magic), quadrant, kd)

	t, r, e := v.Reg(), v.Reg(), v.Reg()
	VMULPD(v.Const(coef.HalfPi1), kd, t)
	VSUBPD(t, a, a)
	VMULPD(v.Const(coef.HalfPi2), kd, t)
	VSUBPD(t, a, r)
	VSUBPD(r, a, e)
	VSUBPD(t, e, e)
	VMULPD(v.Const(coef.HalfPi3), kd, t)
	VSUBPD(e, t, t)
	VSUBPD(t, r, r)

	z := v.Reg()
	VMULPD(r, r, z)
	sp, cp := v.Reg(), v.Reg()
	VMOVUPD(v.Const(coef.Sin[5]), sp)
	VMOVUPD(v.Const(coef.Cos[5]), cp)
	for j := 4; j >= 0; j-- {
		VMULPD(z, sp, sp)
		VADDPD(v.Const(coef.Sin[j]), sp, sp)
		VMULPD(z, cp, cp)
		VADDPD(v.Const(coef.Cos[j]), cp, cp)
	}
	VMULPD(r, z, t)
	VMULPD(t, sp, sp)
	VADDPD(r, sp, sp) // sin r

	h, w := v.Reg(), v.Reg()
	VMULPD(v.Const(0.5), z, h)
	VMOVUPD(v.Const(1), w)
	VSUBPD(h, w, w)
	VMOVUPD(v.Const(1), t)
	VSUBPD(w, t, t)
	VSUBPD(h, t, t)
	VMULPD(z, z, h)
	VMULPD(h, cp, cp)
	VADDPD(t, cp, cp)
	VADDPD(w, cp, cp) // cos r

	// Bit 0 of the quadrant exchanges the two. Bit 1 is the sign of the sine. Bit 1 of the
	// next quadrant is the sign of the cosine.
	odd := v.Reg()
	VPSLLQ(Imm(63), quadrant, odd)
	s, c = v.bySign(odd, cp, sp), v.bySign(odd, sp, cp)
	sign := v.Reg()
	VPSRLQ(Imm(1), quadrant, sign)
	VPSLLQ(Imm(63), sign, sign)
	VXORPD(sign, s, s)
	VXORPD(odd, sign, sign)
	VXORPD(sign, c, c)
	return s, c
}
