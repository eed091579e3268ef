package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
	"revnum/internal/simd/vec/internal/coef"
)

// The functions below repeat activation.go of package vec step by step, in the same order,
// so that all tiers give the same bits. The comments there explain each step.

const (
	sign        = 1 << 63
	tanhBound   = 0.625
	sqrt2Minus1 = 0x1.a827999fcef32p-2
)

var (
	tanhN = []float64{675675, 45045, 594, 1}
	tanhD = []float64{2027025, 945945, 51975, 630, 1}
)

// A function that emits exponentials.
type exponential func([]VecVirtual) []VecVirtual

// activations are the functions y = f(x) with d = f′(x). Of float64, step emits both.
type activation struct {
	name, doc string
	step      func(v vec, exp exponential, ls []Step, x Register) (y, d []VecVirtual)
}

var activations = []activation{
	{"sigmoid", "computes y_i = σ(x_i) = 1/(1 + exp(-x_i)) and d_i = σ′(x_i).", vec.sigmoid},
	{"tanh", "computes y_i = tanh(x_i) and d_i = tanh′(x_i) = 1 - y_i².", vec.tanh},
	{"softplus", "computes y_i = log(1 + exp(x_i)) and d_i = σ(x_i).", vec.softplus},
	{"gELU", "computes y_i = x_i·Φ(x_i) and d_i = Φ(x_i) + x_i·φ(x_i), with the distribution\nΦ and the density φ of standard normal numbers.", vec.gelu},
	{"siLU", "computes y_i = x_i·σ(x_i) and d_i = σ(x_i) + x_i·σ′(x_i).", vec.silu},
}

func emitActivations() {
	for _, f := range activations {
		Floats(f.name, "func(y, d, x *T, n int)", f.doc, func(g ISA) {
			if !g.Double() {
				vec{g}.loop(lanes(f.name))
				return
			}
			y, d, x, n := Arg("y"), Arg("d"), Arg("x"), Arg("n")
			vec{g}.activation(f, n, x, func(l Step, ys, ds VecVirtual) {
				l.Store(ys, y)
				l.Store(ds, d)
			})
		}).Short("n").Chunks("|")
	}
}

// activation emits a loop over n float64 that hands f and its derivative to use.
func (v vec) activation(f activation, n, x Register, use func(l Step, y, d VecVirtual)) {
	exp := v.Exponential(true)
	v.Groups(n, 2, func(ls []Step) {
		y, d := f.step(v, exp, ls, x)
		for u, l := range ls {
			use(l, y[u], d[u])
		}
	}, nil)
}

// expNegAbs returns exp(-|x|).
func (v vec) expNegAbs(exp exponential, ls []Step, x Register) []VecVirtual {
	e := make([]VecVirtual, len(ls))
	for u, l := range ls {
		e[u] = l.Load(x)
		VORPD(Bits(sign), e[u], e[u])
	}
	return exp(e)
}

// halves returns p = e/(1+e) and q = 1/(1+e); p takes the place of e.
func (v vec) halves(e VecVirtual) (p, q VecVirtual) {
	s, q := v.Reg(), v.CopyOf(v.Const(1))
	v.AddConst(1, e, s)
	VDIVPD(s, q, q)
	v.Mul(q, e, e)
	return e, q
}

// bySign returns neg where x has a sign, and pos elsewhere.
func (v vec) bySign(x, neg, pos VecVirtual) VecVirtual {
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

func (v vec) sigmoid(exp exponential, ls []Step, x Register) (y, d []VecVirtual) {
	y, d = v.expNegAbs(exp, ls, x), v.Regs(len(ls))
	for u, l := range ls {
		p, q := v.halves(y[u])
		v.Mul(p, q, d[u])
		y[u] = v.bySign(l.Load(x), p, q)
	}
	return y, d
}

func (v vec) silu(exp exponential, ls []Step, x Register) (y, d []VecVirtual) {
	y, d = v.expNegAbs(exp, ls, x), v.Regs(len(ls))
	for u, l := range ls {
		p, q := v.halves(y[u])
		v.Mul(p, q, d[u])
		t := l.Load(x)
		s := v.bySign(t, p, q)
		v.product(t, s, coef.SiLUBound, d[u])
		y[u] = t
	}
	return y, d
}

// product leaves in x the product max(x, -bound)·s, and in d the sum x·d + s, x no
// larger than bound.
func (v vec) product(x, s VecVirtual, bound float64, d VecVirtual) {
	VMAXPD(x, v.CopyOf(v.Const(-bound)), x)
	t := v.Reg()
	VMINPD(x, v.CopyOf(v.Const(bound)), t)
	v.Fmadd213(s, t, d)
	v.Mul(s, x, x)
}

func (v vec) tanh(exp exponential, ls []Step, x Register) (y, d []VecVirtual) {
	y, d = make([]VecVirtual, len(ls)), make([]VecVirtual, len(ls))
	for u, l := range ls {
		y[u] = l.Load(x)
		VORPD(Bits(sign), y[u], y[u])
		v.Add(y[u], y[u], y[u])
	}
	y = exp(y)
	for u, l := range ls {
		e, m, z := y[u], l.Load(x), v.Reg()
		VANDPD(Bits(sign-1), m, m)
		v.Mul(m, m, z)
		// F = n/den
		den := v.Reg()
		v.AddConst(1, e, den)
		v.Choose(LT, v.Const(tanhBound), m, v.horner(nil, tanhD, z), den)
		n := v.horner(nil, tanhN, z)
		v.Mul(z, n, n)
		VXORPD(Bits(sign), n, n)
		f := e
		v.Mul(v.CopyOf(v.Const(-2)), e, f)
		v.Choose(LT, v.Const(tanhBound), m, n, f)
		VDIVPD(den, f, f)

		base := v.CopyOf(v.Const(1))
		v.Choose(LT, v.Const(tanhBound), m, m, base)
		v.Fmadd231(f, base, base) // base += f·base
		t, s := v.CopyOf(v.Const(1)), v.Reg()
		v.Fnmadd231(base, base, t)
		v.AddConst(2, f, s)
		v.Mul(f, s, s)
		VXORPD(Bits(sign), s, s)
		v.Choose(LT, v.Const(tanhBound), m, t, s)
		d[u] = s
		signs := l.Load(x)
		VANDPD(Bits(sign), signs, signs)
		VORPD(signs, base, base)
		y[u] = base
	}
	return y, d
}

func (v vec) softplus(exp exponential, ls []Step, x Register) (y, d []VecVirtual) {
	y, d = v.expNegAbs(exp, ls, x), v.Regs(len(ls))
	for u, l := range ls {
		e := v.CopyOf(y[u])
		p, q := v.halves(y[u])
		t := l.Load(x)
		d[u] = v.bySign(t, p, q)

		f, zeros, half := v.CopyOf(e), v.Zeros(2), v.Reg()
		k, kLo := zeros[0], zeros[1]
		v.Mul(v.CopyOf(v.Const(0.5)), e, half)
		v.SubConst(0.5, half, half)
		v.Choose(GT, v.Const(sqrt2Minus1), e, half, f, v.CopyOf(v.Const(coef.Ln2)), k, v.CopyOf(v.Const(coef.Ln2Lo)), kLo)

		s, z, w, h := v.Reg(), v.Reg(), v.Reg(), v.Reg()
		v.AddConst(2, f, s)
		VDIVPD(s, f, s)
		v.Mul(s, s, z)
		v.Mul(z, z, w)
		g := v.evenOdd(nil, coef.Log64[:], z, w)
		v.Mul(v.CopyOf(v.Const(0.5)), f, h)
		v.Mul(f, h, h)
		v.Fmadd213(h, z, g)
		v.Fmadd231(s, g, kLo)
		v.Sub(h, kLo, kLo)
		v.Add(f, k, k)
		v.Add(kLo, k, k)
		VMAXPD(t, v.Zeros(1)[0], t)
		v.Add(t, k, k)
		y[u] = k
	}
	return y, d
}

func (v vec) gelu(exp exponential, ls []Step, x Register) (y, d []VecVirtual) {
	abs := func(l Step) VecVirtual {
		u := l.Load(x)
		VANDPD(Bits(sign-1), u, u)
		VMINPD(u, v.CopyOf(v.Const(coef.GELUBound)), u)
		return u
	}
	y, d = make([]VecVirtual, len(ls)), make([]VecVirtual, len(ls))
	for i, l := range ls {
		u := abs(l)
		y[i] = v.Reg()
		v.Mul(u, u, y[i])
		v.Mul(v.CopyOf(v.Const(-0.5)), y[i], y[i])
	}
	y = exp(y)
	for i, l := range ls {
		e, u, h, low := y[i], abs(l), v.Reg(), v.Reg()
		v.Mul(u, u, h)
		VMOVUPD(u, low)
		VFMSUB213PD(h, u, low)
		v.Mul(v.CopyOf(v.Const(0.5)), low, low)
		phi := v.CopyOf(e)
		v.Fnmadd231(e, low, phi)
		v.Mul(v.CopyOf(v.Const(coef.InvSqrt2Pi)), phi, phi)

		r, s, t, t2 := v.CopyOf(v.Const(1)), v.Reg(), v.Reg(), v.Reg()
		v.AddConst(coef.MillsCenter, u, s)
		VDIVPD(s, r, r)
		v.SubConst(coef.MillsCenter, u, t)
		v.Mul(r, t, t)
		v.Mul(t, t, t2)
		p := v.evenOdd(nil, coef.Mills[:], t, t2)
		v.Mul(r, p, p)
		v.Mul(phi, p, p)
		q := v.CopyOf(v.Const(1))
		v.Sub(p, q, q)
		a := l.Load(x)
		cdf := v.bySign(a, p, q)
		v.product(a, cdf, coef.GELUBound, phi)
		y[i], d[i] = a, phi
	}
	return y, d
}

// rectify computes dst_i += pos·from_i where x_i is positive or NaN, and neg·from_i
// elsewhere. A factor of 0 adds nothing.
func rectify(v vec) {
	dst, x, from, n := Arg("dst"), Arg("x"), Arg("from"), Arg("n")
	pos, neg, zero := v.BroadcastArg("pos"), v.BroadcastArg("neg"), v.Zeros(1)[0]
	v.Loop(n, 4, func(l Step, _ int) {
		t, c := l.Load(x), v.Reg()
		if v.Wide {
			k, none := K(), K()
			v.Compare(NLE, zero, t, k)
			Pick(v, VBLENDMPD, VBLENDMPS)(pos, neg, k, c)
			v.Compare(NEQ, zero, c, none)
			Pick(v, VMULPD_Z, VMULPS_Z)(l.Load(from), c, none, t)
		} else {
			m := v.Reg()
			v.Compare(NLE, zero, t, m)
			Pick(v, VBLENDVPD, VBLENDVPS)(m, pos, neg, c)
			v.Compare(NEQ, zero, c, m)
			v.Mul(l.Load(from), c, t)
			VANDPS(m, t, t)
		}
		v.Add(l.Load(dst), t, t)
		l.Store(t, dst)
	}, nil)
}
