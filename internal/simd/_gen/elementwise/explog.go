package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The functions below are exp64, exp32, log64 and log32 of generic.go, step by
// step in the same order, so that all tiers give the same bits. What each step
// is for stands there.

const (
	expMagic64 = 0x1.8p52 + 2046
	expMagic32 = 0x1.8p52 + 1023
	log2e      = 0x1.71547652b82fep+0
	ln2        = 0x1.62e42fefa39efp-1
	ln2Lo      = 0x1.abc9e3b39803fp-56
	ln2Hi42    = 0x1.62e42fefa38p-1
	ln2Lo42    = 0x1.ef35793c7673p-45
)

var (
	exp64Q = []float64{
		0.5, 0x1.555555555555bp-3, 0x1.5555555555503p-5, 0x1.111111110ec65p-7,
		0x1.6c16c16c30437p-10, 0x1.a01a01b37b42dp-13, 0x1.a01a0136a0227p-16, 0x1.71ddf0285947p-19,
		0x1.27e5b4326e5cfp-22, 0x1.af6bda7d48309p-26, 0x1.1e3d377b5642dp-29,
	}
	exp32Q = []float64{
		0x1.0000003a1aefap-1, 0x1.5555544368485p-3, 0x1.55548dd864c29p-5,
		0x1.1112708c36ee4p-7, 0x1.6d8cf41da61fcp-10, 0x1.9f08a7c58f4ffp-13,
	}
	log64P = []float64{
		0x1.5555555555592p-1, 0x1.999999997fee8p-2, 0x1.24924941e0cddp-2, 0x1.c71c52164393cp-3,
		0x1.74663c550f51p-3, 0x1.39a1fb7d49fc6p-3, 0x1.2f02e68dc625ap-3,
	}
	log32P = []float64{
		0x1.555554fde2a78p-1, 0x1.999a7a1a6d9dfp-2, 0x1.2438f153b8309p-2, 0x1.e2f2d534c3fddp-3,
	}
)

const (
	sqrtHalf  = 0x3fe6a09e667f3bcd // bits of √½
	logOffset = sqrtHalf ^ 1<<63
	mantissa  = 1<<52 - 1
	two52     = 0x433 << 52 // bits of 2⁵²
	minNormal = 1 << 52
	maxFinite = 0x7ff<<52 - 1
)

// Predicates of VCMPPD: x op y, of ordered (false) or unordered (true) operands.
const (
	equal    = 0x00
	less     = 0x11
	notLess  = 0x15
	quietNaN = 0x7ff8 << 48
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
		c[b] = entry(b)
		if v.wide {
			r := v.reg()
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

// copyOf returns a register that holds x.
func (v vec) copyOf(x Op) reg.VecVirtual {
	r := v.reg()
	VMOVUPD(x, r)
	return r
}

// horner returns a₀ + a₁·x + ...
func (v vec) horner(c constants, a []float64, x reg.VecVirtual) reg.VecVirtual {
	p := v.copyOf(c.f(a[len(a)-1]))
	for i := len(a) - 2; i >= 0; i-- {
		v.fmadd213(c.f(a[i]), x, p)
	}
	return p
}

// evenOdd returns a₀ + a₁·x + ..., given x², as two Horner chains in x².
func (v vec) evenOdd(c constants, a []float64, x, x2 reg.VecVirtual) reg.VecVirtual {
	var even, odd []float64
	for i, a := range a {
		if i%2 == 0 {
			even = append(even, a)
		} else {
			odd = append(odd, a)
		}
	}
	p, q := v.horner(c, even, x2), v.horner(c, odd, x2)
	v.fmadd231(q, x, p)
	return p
}

// exponential returns a function that emits exp(x), overwriting x.
func (v vec) exponential() func(x reg.VecVirtual) reg.VecVirtual {
	if v.size == 4 {
		return v.exponential32()
	}
	c := v.constants(append(bits(exp64Q...), bits(log2e, expMagic64, ln2, ln2Lo, 1)...)...)
	lowest, highest := v.copyOf(entry(math.Float64bits(-750))), v.copyOf(entry(math.Float64bits(710)))
	return func(x reg.VecVirtual) reg.VecVirtual {
		// The minimum and maximum of a NaN in the last operand is that NaN.
		VMINPD(x, highest, x)
		VMAXPD(x, lowest, x)
		t := v.copyOf(c.f(log2e))
		v.fmadd213(c.f(expMagic64), x, t)
		n := v.reg()
		v.sub(c.f(expMagic64), t, n)
		VFNMADD231PD(c.f(ln2), n, x)
		r := v.copyOf(x)
		VFNMADD231PD(c.f(ln2Lo), n, r)
		v.sub(r, x, x)
		VFNMADD231PD(c.f(ln2Lo), n, x)

		r2, h, l := v.reg(), v.reg(), v.reg()
		v.mul(r, r, r2)
		q := v.evenOdd(c, exp64Q, r, r2)
		v.add(c.f(1), r, h)
		v.sub(c.f(1), h, l)
		v.sub(l, r, l)
		v.add(x, l, l)
		v.fmadd231(q, r2, l)
		v.add(l, h, h)
		if v.wide {
			VSCALEFPD(n, h, h)
			return h
		}
		t1 := v.reg()
		VPSRLQ(Imm(1), t, t1)
		VPSUBQ(t1, t, t)
		VPSLLQ(Imm(52), t1, t1)
		VPSLLQ(Imm(52), t, t)
		v.mul(t1, h, h)
		v.mul(t, h, h)
		return h
	}
}

func (v vec) exponential32() func(x reg.VecVirtual) reg.VecVirtual {
	c := v.constants(append(bits(exp32Q...), bits(log2e, expMagic32, ln2, 1)...)...)
	lowest, highest := v.copyOf(entry(math.Float64bits(-105))), v.copyOf(entry(math.Float64bits(90)))
	return func(x reg.VecVirtual) reg.VecVirtual {
		VMINPD(x, highest, x)
		VMAXPD(x, lowest, x)
		t := v.copyOf(c.f(log2e))
		v.fmadd213(c.f(expMagic32), x, t)
		n := v.reg()
		v.sub(c.f(expMagic32), t, n)
		VFNMADD231PD(c.f(ln2), n, x)
		r2 := v.reg()
		v.mul(x, x, r2)
		q := v.evenOdd(c, exp32Q, x, r2)
		v.fmadd213(x, r2, q)
		v.add(c.f(1), q, q)
		VPSLLQ(Imm(52), t, t)
		v.mul(t, q, q)
		return q
	}
}

func expTo(v vec) {
	dst, x, n := pointer("dst"), pointer("x"), pointer("n")
	exp := v.exponential()
	v.loop(n, 1, func(l step, _ int) { l.store(exp(l.load(x)), dst) }, nil)
}

func expSubTo(v vec) {
	dst, x, y, n := pointer("dst"), pointer("x"), pointer("y"), pointer("n")
	exp := v.exponential()
	v.loop(n, 1, func(l step, _ int) {
		d := l.load(x)
		v.sub(l.load(y), d, d)
		l.store(exp(d), dst)
	}, nil)
}

func expSubAdd(v vec) {
	x, y, sum, n := pointer("x"), pointer("y"), pointer("sum"), pointer("n")
	exp := v.exponential()
	v.loop(n, 1, func(l step, _ int) {
		d := l.load(x)
		v.sub(l.load(y), d, d)
		e, t := exp(d), l.load(sum)
		v.add(e, t, t)
		l.store(e, x) // may narrow e where it is
		l.store(t, sum)
	}, nil)
}

// expShiftSum returns the sum, and stores what it sums if there is a dst.
func expShiftSum(store bool) func(vec) {
	return func(v vec) {
		x, n := pointer("x"), pointer("n")
		var dst reg.Register
		if store {
			dst = pointer("dst")
		}
		shift := v.broadcastParam("shift")
		exp := v.exponential()
		sum := v.reg()
		v.zero(sum)
		v.loop(n, 1, func(l step, _ int) {
			d := l.load(x)
			v.sub(shift, d, d)
			e := exp(d)
			l.addTo(sum, e)
			if store {
				l.store(e, dst)
			}
		}, nil)
		v.returnSum(sum)
	}
}

// addTo adds to sum those lanes of x that are not masked out.
func (l step) addTo(sum, x reg.VecVirtual) {
	switch {
	case l.mask == nil:
		VADDPD(x, sum, sum)
	case l.wide:
		VADDPD(x, sum, l.mask, sum)
	default:
		m := l.mask
		if l.widen {
			m = YMM()
			VPMOVSXDQ(l.mask, m)
		}
		t := l.reg()
		VANDPD(m, x, t)
		VADDPD(t, sum, sum)
	}
}

// logTo takes a shorter way where no lane of a vector needs care: the branch is
// nearly always predicted.
func logTo(v vec) {
	dst, x, n := pointer("dst"), pointer("x"), pointer("n")
	reduce := append(bits(1, 0x1p52+2048), logOffset, sqrtHalf, mantissa, two52, minNormal, maxFinite-minNormal)
	own := append(bits(log64P...), bits(0.5, ln2Hi42, ln2Lo42)...)
	if v.size == 4 {
		own = append(bits(log32P...), bits(ln2)...)
	}
	c := v.constants(append(reduce, own...)...)
	v.loop(n, 1, func(l step, _ int) {
		x := l.load(x)
		if l.mask != nil { // lanes masked out hold 0
			l.store(v.logAny(c, x), dst)
			return
		}
		normal, done := v.label("normal"), v.label("stored")
		v.jumpIfNormal(c, x, normal)
		l.store(v.logAny(c, x), dst)
		JMP(LabelRef(done))
		Label(normal)
		if v.size == 4 {
			l.store(v.log32(c, x), dst)
		} else {
			l.store(v.log64(c, x, nil), dst)
		}
		Label(done)
	}, nil)
}

// jumpIfNormal jumps if all lanes are positive, finite and not subnormal.
func (v vec) jumpIfNormal(c constants, x reg.VecVirtual, label string) {
	t := v.reg()
	VPSUBQ(c[minNormal], x, t)
	if v.wide {
		const above = 6 // unsigned
		k := K()
		VPCMPUQ(Imm(above), c[maxFinite-minNormal], t, k)
		KORTESTW(k, k)
		JZ(LabelRef(label))
		return
	}
	// Of a negative x, the sign bit of x tells, of a smaller x, that of t.
	m, signs := v.reg(), GP32()
	VPCMPGTQ(c[maxFinite-minNormal], t, m)
	VORPD(t, m, m)
	VORPD(x, m, m)
	VMOVMSKPD(m, signs)
	TESTL(signs, signs)
	JZ(LabelRef(label))
}

// logAny returns log(x) whatever is in x. Its own constants stay in memory.
func (v vec) logAny(c constants, x reg.VecVirtual) reg.VecVirtual {
	var y reg.VecVirtual
	if v.size == 4 {
		y = v.log32(c, x)
	} else {
		scaled, adjust := v.copyOf(x), v.reg()
		if v.wide {
			sub := K()
			VCMPPD(Imm(less), entry(uint64(minNormal)), x, sub)
			VMULPD(v.constant(0x1p54), x, sub, scaled)
			VMOVUPD_Z(v.constant(54), sub, adjust)
		} else {
			sub, t := v.reg(), v.reg()
			VCMPPD(Imm(less), entry(uint64(minNormal)), x, sub)
			VMULPD(v.constant(0x1p54), x, t)
			VBLENDVPD(sub, t, scaled, scaled)
			VANDPD(v.constant(54), sub, adjust)
		}
		y = v.log64(c, scaled, adjust)
	}
	v.choose(notLess, v.constant(math.Inf(1)), x, x, y)
	v.choose(equal, v.constant(0), x, v.constant(negInf), y)
	v.choose(less, v.constant(0), x, entry(uint64(quietNaN)), y)
	return y
}

// logReduce returns k and m with x = 2ᵏ·m and m in [√½, √2).
func (v vec) logReduce(c constants, x reg.VecVirtual) (k, m reg.VecVirtual) {
	k, m = v.reg(), v.reg()
	VPSUBQ(c[logOffset], x, m)
	VPSRLQ(Imm(52), m, k)
	VORPD(c[two52], k, k)
	v.sub(c.f(0x1p52+2048), k, k)
	VANDPD(c[mantissa], m, m)
	VPADDQ(c[sqrtHalf], m, m)
	return k, m
}

// log64 returns log(x) - adjust·ln2 of a normal x; a nil adjust is 0.
func (v vec) log64(c constants, x, adjust reg.VecVirtual) reg.VecVirtual {
	k, m := v.logReduce(c, x)
	if adjust != nil {
		v.sub(adjust, k, k)
	}
	f, s, z, w := v.reg(), v.reg(), v.reg(), v.reg()
	v.sub(c.f(1), m, f)
	v.add(c.f(1), m, s)
	VDIVPD(s, f, s)
	v.mul(s, s, z)
	v.mul(z, z, w)
	p := v.evenOdd(c, log64P, z, w)
	half, h := v.reg(), v.reg()
	v.mul(c.f(0.5), f, half)
	v.mul(half, f, h)
	VFMSUB213PD(h, f, half) // what the rounding of h lost
	v.fmadd213(h, z, p)

	kh, hi, lo := v.reg(), v.reg(), v.reg()
	v.mul(c.f(ln2Hi42), k, kh)
	v.add(f, kh, hi)
	v.sub(kh, hi, lo)
	v.sub(lo, f, lo)
	v.fmadd231(c.f(ln2Lo42), k, lo)
	v.sub(half, lo, lo)
	v.fmadd231(s, p, lo)
	v.sub(h, lo, lo)
	v.add(lo, hi, hi)
	return hi
}

func (v vec) log32(c constants, x reg.VecVirtual) reg.VecVirtual {
	k, m := v.logReduce(c, x)
	f, s, z, w := v.reg(), v.reg(), v.reg(), v.reg()
	v.sub(c.f(1), m, f)
	v.add(c.f(1), m, s)
	VDIVPD(s, f, s)
	v.mul(s, s, z)
	v.mul(z, z, w)
	p := v.evenOdd(c, log32P, z, w)
	v.mul(s, z, z)
	v.add(s, s, s)
	v.fmadd231(z, p, s)
	v.fmadd231(c.f(ln2), k, s)
	return s
}
