package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
	"revnum/internal/simd/vec/internal/coef"
)

// The functions below repeat log64 and log32 of generic.go step by step, in the same order,
// so that all tiers give the same bits. The comments there explain each step.

const (
	sqrtHalf  = 0x3fe6a09e667f3bcd // bits of √½
	logOffset = sqrtHalf ^ 1<<63
	mantissa  = 1<<52 - 1
	two52     = 0x433 << 52 // bits of 2⁵²
	minNormal = 1 << 52
	maxFinite = 0x7ff<<52 - 1
	quietNaN  = 0x7ff8 << 48

	minNormal32 = 1 << 23
	maxFinite32 = 0xff<<23 - 1
)

// constants are float64 constants by their bits, in registers for AVX-512,
// which has enough of those, and in memory for AVX2.
type constants map[uint64]Op

func (v vec) constants(bits ...uint64) constants {
	c := make(constants)
	for _, b := range bits {
		if _, ok := c[b]; ok {
			continue
		}
		c[b] = Bits(b)
		if v.Wide {
			r := v.Reg()
			VBROADCASTSD(c[b], r)
			c[b] = r
		}
	}
	return c
}

func (c constants) f(x float64) Op { return c[math.Float64bits(x)] }

func bits(x ...float64) []uint64 {
	b := make([]uint64, len(x))
	for i, x := range x {
		b[i] = math.Float64bits(x)
	}
	return b
}

// horner returns a₀ + a₁·x + ... Constants that are not in c stay in memory.
func (v vec) horner(c constants, a []float64, x VecVirtual) VecVirtual {
	last := len(a) - 1
	p := v.Reg()
	if c == nil {
		v.Mov(v.Const(a[last]), p)
	} else {
		v.Mov(c.f(a[last]), p)
	}
	for i := last - 1; i >= 0; i-- {
		if c == nil {
			v.FmaddConst(a[i], x, p)
		} else {
			v.Fmadd213(c.f(a[i]), x, p)
		}
	}
	return p
}

// evenOdd returns a₀ + a₁·x + ..., given x², as two Horner chains in x².
func (v vec) evenOdd(c constants, a []float64, x, x2 VecVirtual) VecVirtual {
	var half [2][]float64
	for i, a := range a {
		half[i%2] = append(half[i%2], a)
	}
	p, q := v.horner(c, half[0], x2), v.horner(c, half[1], x2)
	v.Fmadd231(q, x, p)
	return p
}

func log(v vec) {
	if !v.Double() {
		v.loop(lanes("log"))
		return
	}
	dst := Arg("dst")
	v.logarithms(Arg("n"), Arg("x"), func(l Step, y VecVirtual) { l.Store(y, dst) })
}

// logarithms emits a loop over n float64 that hands their logarithms to use. It takes a shorter
// way where no lane of a vector needs care: the branch is nearly always predicted.
func (v vec) logarithms(n, x Register, use func(l Step, y VecVirtual)) {
	reduce := append(bits(1, 0x1p52+2048), logOffset, sqrtHalf, mantissa, two52, minNormal, maxFinite-minNormal)
	c := v.constants(append(reduce, append(bits(coef.Log64[:]...), bits(0.5, coef.Ln2Hi42, coef.Ln2Lo42)...)...)...)
	v.Groups(n, v.Unroll(1, 1, 2), func(ls []Step) {
		x := loads(ls, x)
		if ls[0].Mask != nil { // lanes masked out hold 0
			use(ls[0], v.logAny(c, x[0]))
			return
		}
		each := func(log func(x VecVirtual) VecVirtual) {
			y := make([]VecVirtual, len(ls))
			for u := range ls {
				y[u] = log(x[u])
			}
			for u, l := range ls {
				use(l, y[u])
			}
		}
		normal, done := Unique("normal"), Unique("stored")
		v.jumpIfNormal(c, x, normal)
		each(func(x VecVirtual) VecVirtual { return v.logAny(c, x) })
		JMP(LabelRef(done))
		Label(normal)
		each(func(x VecVirtual) VecVirtual { return v.log64(c, x, nil) })
		Label(done)
	}, nil)
}

// loads returns the elements at p.
func loads(ls []Step, p Register) (x []VecVirtual) {
	for _, l := range ls {
		x = append(x, l.Load(p))
	}
	return x
}

// jumpIfNormal jumps if all lanes are positive, finite and not subnormal.
func (v vec) jumpIfNormal(c constants, x []VecVirtual, label string) {
	if v.Wide {
		const above = 6 // unsigned
		t, k := v.Reg(), K()
		VPSUBQ(c[minNormal], x[0], t)
		VPCMPUQ(Imm(above), c[maxFinite-minNormal], t, k)
		KORTESTW(k, k)
		JZ(LabelRef(label))
		return
	}
	// A negative x has its own sign bit set; a small x sets the sign bit of t.
	var any VecVirtual
	signs := GP32()
	for u, x := range x {
		t, m := v.Reg(), v.Reg()
		VPSUBQ(c[minNormal], x, t)
		VPCMPGTQ(c[maxFinite-minNormal], t, m)
		VORPD(t, m, m)
		VORPD(x, m, m)
		if u > 0 {
			VORPD(any, m, m)
		}
		any = m
	}
	VMOVMSKPD(any, signs)
	TESTL(signs, signs)
	JZ(LabelRef(label))
}

// logAny returns log(x) whatever is in x. Its own constants stay in memory.
func (v vec) logAny(c constants, x VecVirtual) VecVirtual {
	scaled, adjust, t := v.CopyOf(x), v.Zeros(1)[0], v.Reg()
	v.Mul(v.Const(0x1p54), x, t)
	v.Choose(LT, Bits(minNormal), x, t, scaled, v.Const(54), adjust)
	y := v.log64(c, scaled, adjust)
	v.Choose(NLT, v.Const(math.Inf(1)), x, x, y)
	v.Choose(EQ, v.Const(0), x, v.Const(negInf), y)
	v.Choose(LT, v.Const(0), x, Bits(quietNaN), y)
	return y
}

// logReduce returns k, f, s and z = s² with x = 2ᵏ·(1 + f), 1 + f in [√½, √2) and
// s = f/(2 + f), and then P(z).
func (v vec) logReduce(c constants, x VecVirtual, a []float64) (k, f, s, z, p VecVirtual) {
	k, m := v.Reg(), v.Reg()
	VPSUBQ(c[logOffset], x, m)
	VPSRLQ(Imm(52), m, k)
	VORPD(c[two52], k, k)
	v.Sub(c.f(0x1p52+2048), k, k)
	VANDPD(c[mantissa], m, m)
	VPADDQ(c[sqrtHalf], m, m)
	f, s, z = v.Reg(), v.Reg(), v.Reg()
	w := v.Reg()
	v.Sub(c.f(1), m, f)
	v.Add(c.f(1), m, s)
	v.Div(s, f, s)
	v.Mul(s, s, z)
	v.Mul(z, z, w)
	return k, f, s, z, v.evenOdd(c, a, z, w)
}

// log64 returns log(x) - adjust·ln2 of a normal x; a nil adjust is 0.
func (v vec) log64(c constants, x, adjust VecVirtual) VecVirtual {
	k, f, s, z, p := v.logReduce(c, x, coef.Log64[:])
	if adjust != nil {
		v.Sub(adjust, k, k)
	}
	half, h := v.Reg(), v.Reg()
	v.Mul(c.f(0.5), f, half)
	v.Mul(half, f, h)
	VFMSUB213PD(h, f, half) // the rounding error of h
	v.Fmadd213(h, z, p)

	kh, hi, lo := v.Reg(), v.Reg(), v.Reg()
	v.Mul(c.f(coef.Ln2Hi42), k, kh)
	v.Add(f, kh, hi)
	v.Sub(kh, hi, lo)
	v.Sub(lo, f, lo)
	v.Fmadd231(c.f(coef.Ln2Lo42), k, lo)
	v.Sub(half, lo, lo)
	v.Fmadd231(s, p, lo)
	v.Sub(h, lo, lo)
	v.Add(lo, hi, hi)
	return hi
}
