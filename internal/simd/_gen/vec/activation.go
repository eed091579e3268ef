package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// --- Activations -----------------------------------------------------------

// The functions below are those of activation.go in package vec, step by step in the
// same order, so that all tiers give the same bits. What each step is for stands there.

const (
	sign         = 1 << 63
	millsCenter  = 3.5
	invSqrt2Pi   = 0x1.9884533d43651p-2
	geluBound    = 40
	siluBound    = 800
	tanhBound    = 0.625
	sqrt2Minus1  = 0x1.a827999fcef32p-2
	greater      = 0x1e
	notLessEqual = 0x16 // or NaN
)

var (
	tanhN  = []float64{675675, 45045, 594, 1}
	tanhD  = []float64{2027025, 945945, 51975, 630, 1}
	millsQ = []float64{
		0x1.ddb07f4534143p+0, -0x1.6aeb529b4ffd7p+0, 0x1.94d07d4aac0d4p-1, -0x1.29e0c849bd165p-2,
		0x1.657527ab6b2b5p-5, 0x1.09f81f665350cp-6, -0x1.05f19de7abee3p-7, -0x1.246abb8c0804cp-10,
		0x1.3935d12725bb6p-10, 0x1.60610327a4300p-13, -0x1.8d5502b9d2febp-13, -0x1.8b136ab241b63p-15,
		0x1.e3e7ac781f32cp-16, 0x1.db5dfc5d6cd54p-17, -0x1.87fbebe8804f9p-19, -0x1.f1983795b527fp-19,
		-0x1.8135f579c300dp-22, 0x1.8bfe1e1bbf36cp-21, 0x1.4d6546850307cp-22, -0x1.433d24be4e984p-24,
		-0x1.8728bb1e4c0a7p-24, -0x1.4f36799422a9ap-27, 0x1.a7128f0972bf6p-27, 0x1.0184a20ad592dp-28,
	}
)

// activations emits the functions that compute y = f(x) and d = f′(x) of float64.
func activations() {
	for _, f := range []struct {
		name, doc string
		step      func(v vec, exp func([]reg.VecVirtual) []reg.VecVirtual, ls []step, x reg.Register) (y, d []reg.VecVirtual)
	}{
		{"sigmoidTo", "computes y_i = σ(x_i) and d_i = σ′(x_i).", vec.sigmoid},
		{"tanhTo", "computes y_i = tanh(x_i) and d_i = tanh′(x_i).", vec.tanh},
		{"softplusTo", "computes y_i = log(1 + exp(x_i)) and d_i = σ(x_i).", vec.softplus},
		{"geluTo", "computes y_i = x_i·Φ(x_i) and its derivative d_i.", vec.gelu},
		{"siluTo", "computes y_i = x_i·σ(x_i) and its derivative d_i.", vec.silu},
	} {
		BothTiers(8, f.name, "func(y, d, x *float64, n int)", f.doc, func(g ISA) {
			v := vec{g, 8}
			y, d, x, n := Arg("y"), Arg("d"), Arg("x"), Arg("n")
			exp := v.exponential()
			v.groups(n, 2, func(ls []step) {
				ys, ds := f.step(v, exp, ls, x)
				for u, l := range ls {
					l.store(ys[u], y)
					l.store(ds[u], d)
				}
			}, nil)
		})
		Short(f.name, "n")
		Chunks(f.name, "|")
	}
}

// expNegAbs returns exp(-|x|).
func (v vec) expNegAbs(exp func([]reg.VecVirtual) []reg.VecVirtual, ls []step, x reg.Register) []reg.VecVirtual {
	e := make([]reg.VecVirtual, len(ls))
	for u, l := range ls {
		e[u] = l.load(x)
		VORPD(entry(sign), e[u], e[u])
	}
	return exp(e)
}

// halves returns p = e/(1+e) and q = 1/(1+e); p takes the place of e.
func (v vec) halves(e reg.VecVirtual) (p, q reg.VecVirtual) {
	s, q := v.Reg(), v.copyOf(v.constant(1))
	v.addConst(1, e, s)
	VDIVPD(s, q, q)
	v.Mul(q, e, e)
	return e, q
}

// bySign returns neg where x has a sign, and pos elsewhere.
func (v vec) bySign(x, neg, pos reg.VecVirtual) reg.VecVirtual {
	r := v.Reg()
	if v.Wide {
		k := K()
		VPMOVQ2M(x, k)
		VBLENDMPD(neg, pos, k, r)
	} else {
		VBLENDVPD(x, neg, pos, r)
	}
	return r
}

// hornerMemory returns a₀ + a₁·x + ..., with constants in memory.
func (v vec) hornerMemory(a []float64, x reg.VecVirtual) reg.VecVirtual {
	p := v.copyOf(v.constant(a[len(a)-1]))
	for i := len(a) - 2; i >= 0; i-- {
		v.fmaddConst(a[i], x, p)
	}
	return p
}

// evenOddMemory is evenOdd with constants in memory.
func (v vec) evenOddMemory(a []float64, x, x2 reg.VecVirtual) reg.VecVirtual {
	var even, odd []float64
	for i, a := range a {
		if i%2 == 0 {
			even = append(even, a)
		} else {
			odd = append(odd, a)
		}
	}
	p, q := v.hornerMemory(even, x2), v.hornerMemory(odd, x2)
	v.Fmadd231(q, x, p)
	return p
}

func (v vec) sigmoid(exp func([]reg.VecVirtual) []reg.VecVirtual, ls []step, x reg.Register) (y, d []reg.VecVirtual) {
	y, d = v.expNegAbs(exp, ls, x), v.Regs(len(ls))
	for u, l := range ls {
		p, q := v.halves(y[u])
		v.Mul(p, q, d[u])
		y[u] = v.bySign(l.load(x), p, q)
	}
	return y, d
}

func (v vec) silu(exp func([]reg.VecVirtual) []reg.VecVirtual, ls []step, x reg.Register) (y, d []reg.VecVirtual) {
	y, d = v.expNegAbs(exp, ls, x), v.Regs(len(ls))
	for u, l := range ls {
		p, q := v.halves(y[u])
		v.Mul(p, q, d[u])
		t := l.load(x)
		s := v.bySign(t, p, q)
		v.product(t, s, siluBound, d[u])
		y[u] = t
	}
	return y, d
}

// product leaves in x the product max(x, -bound)·s, and in d the sum x·d + s, x no
// larger than bound.
func (v vec) product(x, s reg.VecVirtual, bound float64, d reg.VecVirtual) {
	VMAXPD(x, v.copyOf(v.constant(-bound)), x)
	t := v.Reg()
	VMINPD(x, v.copyOf(v.constant(bound)), t)
	v.Fmadd213(s, t, d)
	v.Mul(s, x, x)
}

func (v vec) tanh(exp func([]reg.VecVirtual) []reg.VecVirtual, ls []step, x reg.Register) (y, d []reg.VecVirtual) {
	y, d = make([]reg.VecVirtual, len(ls)), make([]reg.VecVirtual, len(ls))
	for u, l := range ls {
		y[u] = l.load(x)
		VORPD(entry(sign), y[u], y[u])
		v.Add(y[u], y[u], y[u])
	}
	y = exp(y)
	for u, l := range ls {
		e, m, z := y[u], l.load(x), v.Reg()
		VANDPD(entry(sign-1), m, m)
		v.Mul(m, m, z)
		// F = n/den
		den := v.Reg()
		v.addConst(1, e, den)
		v.choose(less, v.constant(tanhBound), m, v.hornerMemory(tanhD, z), den)
		n := v.hornerMemory(tanhN, z)
		v.Mul(z, n, n)
		VXORPD(entry(sign), n, n)
		f := e
		v.Mul(v.copyOf(v.constant(-2)), e, f)
		v.choose(less, v.constant(tanhBound), m, n, f)
		VDIVPD(den, f, f)

		base := v.copyOf(v.constant(1))
		v.choose(less, v.constant(tanhBound), m, m, base)
		v.Fmadd231(f, base, base) // base += f·base
		t, s := v.copyOf(v.constant(1)), v.Reg()
		v.Fnmadd231(base, base, t)
		v.addConst(2, f, s)
		v.Mul(f, s, s)
		VXORPD(entry(sign), s, s)
		v.choose(less, v.constant(tanhBound), m, t, s)
		d[u] = s
		signs := l.load(x)
		VANDPD(entry(sign), signs, signs)
		VORPD(signs, base, base)
		y[u] = base
	}
	return y, d
}

func (v vec) softplus(exp func([]reg.VecVirtual) []reg.VecVirtual, ls []step, x reg.Register) (y, d []reg.VecVirtual) {
	y, d = v.expNegAbs(exp, ls, x), v.Regs(len(ls))
	for u, l := range ls {
		e := v.copyOf(y[u])
		p, q := v.halves(y[u])
		t := l.load(x)
		d[u] = v.bySign(t, p, q)

		f, k, kLo, half := v.copyOf(e), v.Reg(), v.Reg(), v.Reg()
		v.zero(k)
		v.zero(kLo)
		v.Mul(v.copyOf(v.constant(0.5)), e, half)
		v.subConst(0.5, half, half)
		v.choose(greater, v.constant(sqrt2Minus1), e, half, f)
		v.choose(greater, v.constant(sqrt2Minus1), e, v.copyOf(v.constant(ln2)), k)
		v.choose(greater, v.constant(sqrt2Minus1), e, v.copyOf(v.constant(ln2Lo)), kLo)

		s, z, w, h := v.Reg(), v.Reg(), v.Reg(), v.Reg()
		v.addConst(2, f, s)
		VDIVPD(s, f, s)
		v.Mul(s, s, z)
		v.Mul(z, z, w)
		g := v.evenOddMemory(log64P, z, w)
		v.Mul(v.copyOf(v.constant(0.5)), f, h)
		v.Mul(f, h, h)
		v.Fmadd213(h, z, g)
		v.Fmadd231(s, g, kLo)
		v.Sub(h, kLo, kLo)
		v.Add(f, k, k)
		v.Add(kLo, k, k)
		zero := v.Reg()
		v.zero(zero)
		VMAXPD(t, zero, t)
		v.Add(t, k, k)
		y[u] = k
	}
	return y, d
}

func (v vec) gelu(exp func([]reg.VecVirtual) []reg.VecVirtual, ls []step, x reg.Register) (y, d []reg.VecVirtual) {
	abs := func(l step) reg.VecVirtual {
		u := l.load(x)
		VANDPD(entry(sign-1), u, u)
		VMINPD(u, v.copyOf(v.constant(geluBound)), u)
		return u
	}
	y, d = make([]reg.VecVirtual, len(ls)), make([]reg.VecVirtual, len(ls))
	for i, l := range ls {
		u := abs(l)
		y[i] = v.Reg()
		v.Mul(u, u, y[i])
		v.Mul(v.copyOf(v.constant(-0.5)), y[i], y[i])
	}
	y = exp(y)
	for i, l := range ls {
		e, u, h, low := y[i], abs(l), v.Reg(), v.Reg()
		v.Mul(u, u, h)
		VMOVUPD(u, low)
		VFMSUB213PD(h, u, low)
		v.Mul(v.copyOf(v.constant(0.5)), low, low)
		phi := v.copyOf(e)
		v.Fnmadd231(e, low, phi)
		v.Mul(v.copyOf(v.constant(invSqrt2Pi)), phi, phi)

		r, s, t, t2 := v.copyOf(v.constant(1)), v.Reg(), v.Reg(), v.Reg()
		v.addConst(millsCenter, u, s)
		VDIVPD(s, r, r)
		v.subConst(millsCenter, u, t)
		v.Mul(r, t, t)
		v.Mul(t, t, t2)
		p := v.evenOddMemory(millsQ, t, t2)
		v.Mul(r, p, p)
		v.Mul(phi, p, p)
		q := v.copyOf(v.constant(1))
		v.Sub(p, q, q)
		a := l.load(x)
		cdf := v.bySign(a, p, q)
		v.product(a, cdf, geluBound, phi)
		y[i], d[i] = a, phi
	}
	return y, d
}

// rectify computes dst_i += pos·from_i where x_i is positive or NaN, and neg·from_i
// elsewhere. A factor of 0 adds nothing.
func rectify(v vec) {
	dst, x, from, n := Arg("dst"), Arg("x"), Arg("from"), Arg("n")
	pos, neg, zero := v.broadcastParam("pos"), v.broadcastParam("neg"), v.Reg()
	v.zero(zero)
	cmp := Pick(v, VCMPPD, VCMPPS)
	v.loop(n, 4, func(l step, _ int) {
		t, c := l.load(x), v.Reg()
		if v.Wide {
			k, none := K(), K()
			cmp(Imm(notLessEqual), zero, t, k)
			Pick(v, VBLENDMPD, VBLENDMPS)(pos, neg, k, c)
			cmp(Imm(unequal), zero, c, none)
			Pick(v, VMULPD_Z, VMULPS_Z)(l.load(from), c, none, t)
		} else {
			m := v.Reg()
			cmp(Imm(notLessEqual), zero, t, m)
			Pick(v, VBLENDVPD, VBLENDVPS)(m, pos, neg, c)
			cmp(Imm(unequal), zero, c, m)
			v.Mul(l.load(from), c, t)
			VANDPS(m, t, t)
		}
		v.Add(l.load(dst), t, t)
		l.store(t, dst)
	}, nil)
}

const unequal = 0x04 // or NaN

// div emits dst = a/b.
func (v vec) div(b, a, dst Op) { Pick(v, VDIVPD, VDIVPS)(b, a, dst) }
