package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// The functions below are exp64, exp32, log64 and log32 of generic.go, step by
// step in the same order, so that all tiers give the same bits. What each step
// is for stands there.

const (
	expMagic64 = 0x1.8p49 + 2046
	expMagic32 = 0x1.8p52 + 1023
	log2e      = 0x1.71547652b82fep+0
	ln2        = 0x1.62e42fefa39efp-1
	ln2Lo      = 0x1.abc9e3b39803fp-56
	ln2Hi42    = 0x1.62e42fefa38p-1
	ln2Lo42    = 0x1.ef35793c7673p-45
)

// exp64Hi and exp64Lo are the bits of 2^(j/8) and of what that lacks.
var (
	exp64Hi = [8]uint64{
		0x3ff0000000000000, 0x3ff172b83c7d517b, 0x3ff306fe0a31b715, 0x3ff4bfdad5362a27,
		0x3ff6a09e667f3bcd, 0x3ff8ace5422aa0db, 0x3ffae89f995ad3ad, 0x3ffd5818dcfba487,
	}
	exp64Lo = [8]uint64{
		0, 0xbc819041bc819041, 0x3c86f46b3c86f46b, 0x3c7d43973c7d4397,
		0xbc9bdd33bc9bdd33, 0x3c96e9f13c96e9f1, 0x3c97a1cd3c97a1cd, 0x3c82ed033c82ed03,
	}
	exp64Table = NewStaticSymbol("exp64Table")
	exp64Words = NewStaticSymbol("exp64Words")
)

var (
	exp64Q = []float64{
		0x1.000000000010bp-1, 0x1.5555555555132p-3, 0x1.5555554810259p-5,
		0x1.11111125d793bp-7, 0x1.6c1cbd31145a8p-10, 0x1.a016398b5f79fp-13,
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
	equal     = 0x00
	unordered = 0x03
	ordered   = 0x07
	less      = 0x11
	notLess   = 0x15
	quietNaN  = 0x7ff8 << 48
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

// copyOf returns a register that holds x.
func (v vec) copyOf(x Op) reg.VecVirtual {
	r := v.Reg()
	VMOVUPD(x, r)
	return r
}

// horner returns a₀ + a₁·x + ...
func (v vec) horner(c constants, a []float64, x reg.VecVirtual) reg.VecVirtual {
	p := v.copyOf(c.f(a[len(a)-1]))
	for i := len(a) - 2; i >= 0; i-- {
		v.Fmadd213(c.f(a[i]), x, p)
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
	v.Fmadd231(q, x, p)
	return p
}

// exponential returns a function that emits the exponentials of vectors,
// overwriting these. It emits each step for all of them: the chain of steps is
// long, and a processor that waits for one finds work in the others.
func (v vec) exponential() func(x []reg.VecVirtual) []reg.VecVirtual {
	switch {
	case v.size == 4:
		return v.exponential32()
	case v.Wide:
		return v.exponential64Wide(v.eitherScale)
	}
	return v.exponential64(v.eitherScale)
}

// A scaler emits what scale does, given the exponents of the results.
type scaler func(exponents []reg.VecVirtual, least float64, scale func(subnormal bool))

// normalScale emits the scaling alone: a subnormal result is right but slow.
func normalScale(_ []reg.VecVirtual, _ float64, scale func(subnormal bool)) { scale(false) }

func (v vec) exponential64Wide(either scaler) func(x []reg.VecVirtual) []reg.VecVirtual {
	hi, lo := v.copyOf(NewDataAddr(exp64Table, 0)), v.copyOf(NewDataAddr(exp64Table, 64))
	return func(x []reg.VecVirtual) []reg.VecVirtual {
		t, n := v.expReduce(x, expMagic64)
		for u := range x {
			v.fnmaddConst(ln2Lo, n[u], x[u])
		}
		v.boundReduced(x)
		p := v.exp64Polynomial(x)
		for u, p := range p {
			h, l := v.Reg(), t[u]
			VPERMPD(hi, t[u], h)
			VPERMPD(lo, t[u], l)
			v.Fmadd213(l, h, p)
			v.Add(h, p, p)
		}
		either(n, leastNormal, func(subnormal bool) {
			for u, p := range p {
				if !subnormal {
					VSCALEFPD(n[u], p, p)
					continue
				}
				k := K()
				VCMPPD_BCST(Imm(less), entry(math.Float64bits(leastNormal)), n[u], k)
				VADDPD_BCST(entry(math.Float64bits(toInteger)), n[u], k, n[u])
				VMAXPD_BCST(entry(math.Float64bits(-100)), n[u], k, n[u])
				VSCALEFPD(n[u], p, p)
				VADDPD_BCST(entry(two52), p, k, p)
				VPSUBQ_BCST(entry(two52), p, k, p)
			}
		})
		return p
	}
}

func (v vec) exponential64(either scaler) func(x []reg.VecVirtual) []reg.VecVirtual {
	clamp := v.clamp(-750, 710)
	return func(x []reg.VecVirtual) []reg.VecVirtual {
		clamp(x)
		t, n := v.expReduce(x, expMagic64)
		for u := range x {
			v.fnmaddConst(ln2Lo, n[u], x[u])
		}
		p := v.exp64Polynomial(x)
		for u, p := range p {
			// The tables are looked up by words, with the index in both of each element.
			i, h, l := v.Reg(), v.Reg(), v.Reg()
			VMOVSLDUP(t[u], i)
			VPERMD(NewDataAddr(exp64Words, 0), i, l)
			VPERMD(NewDataAddr(exp64Words, 32), i, h)
			VPBLENDD(Imm(0xaa), h, l, h)
			VPERMD(NewDataAddr(exp64Words, 64), i, l)
			v.Fmadd213(l, h, p)
			v.Add(h, p, p)
		}
		either(t, expMagic64+leastNormal, func(subnormal bool) {
			for u, p := range p {
				t, half, m := t[u], v.Reg(), v.Reg()
				if subnormal {
					VCMPPD(Imm(less), v.constant(expMagic64+leastNormal), t, m)
				}
				VPSRLQ(Imm(3), t, t)
				if subnormal {
					VPAND(entry(toInteger), m, half)
					VPADDQ(half, t, t)
				}
				VPSRLQ(Imm(1), t, half)
				VPSUBQ(half, t, t)
				VPSLLQ(Imm(52), half, half)
				VPSLLQ(Imm(52), t, t)
				v.Mul(half, p, p)
				v.Mul(t, p, p)
				if subnormal {
					VPAND(entry(two52), m, m)
					v.Add(m, p, p)
					VPSUBQ(m, p, p)
				}
			}
		})
		return p
	}
}

const (
	leastNormal = -1022 // the exponent of normal numbers
	toInteger   = 1074  // that of what makes subnormal numbers integers
)

// eitherScale emits the scaling by powers of two twice, and a branch to that for
// subnormal results if an exponent is below least. A processor may take hundreds of
// cycles to round to a subnormal number, or to 0. So such a result is made a number of
// units of subnormal numbers, and 2⁵² is added, which rounds it: the bits of the sum are
// those of 2⁵² plus those of the result. (A NaN may hide an exponent from the test,
// and then the other way takes that long.)
func (v vec) eitherScale(exponents []reg.VecVirtual, least float64, scale func(subnormal bool)) {
	normal, done := Unique("normal"), Unique("scaled")
	e := exponents[0]
	if len(exponents) > 1 {
		e = v.Reg()
		VMINPD(exponents[0], exponents[1], e)
		for _, x := range exponents[2:] {
			VMINPD(e, x, e)
		}
	}
	if v.Wide {
		k := K()
		VCMPPD_BCST(Imm(less), entry(math.Float64bits(least)), e, k)
		KORTESTW(k, k)
	} else {
		m, signs := v.Reg(), GP32()
		VCMPPD(Imm(less), v.constant(least), e, m)
		VMOVMSKPD(m, signs)
		TESTL(signs, signs)
	}
	JZ(LabelRef(normal))
	scale(true)
	JMP(LabelRef(done))
	Label(normal)
	scale(false)
	Label(done)
}

func (v vec) exponential32() func(x []reg.VecVirtual) []reg.VecVirtual {
	clamp, least := func([]reg.VecVirtual) {}, reg.VecVirtual(nil)
	if v.Wide {
		least = v.copyOf(v.constant(-1000)) // of exponents: no result is subnormal in float64
	} else {
		clamp = v.clamp(-105, 90)
	}
	return func(x []reg.VecVirtual) []reg.VecVirtual {
		clamp(x)
		t, n := v.expReduce(x, expMagic32)
		if v.Wide {
			v.boundReduced(x)
		}
		r2, even, odd := v.Regs(len(x)), v.Regs(len(x)), v.Regs(len(x))
		for u := range x {
			v.Mul(x[u], x[u], r2[u])
		}
		v.hornerConst(exp32Q[0], exp32Q[2], exp32Q[4], r2, even)
		v.hornerConst(exp32Q[1], exp32Q[3], exp32Q[5], r2, odd)
		for u := range x {
			v.Fmadd231(odd[u], x[u], even[u])
		}
		for u := range x {
			v.Fmadd213(x[u], r2[u], even[u])
		}
		for u, e := range even {
			v.addConst(1, e, e)
			if v.Wide {
				VMAXPD(n[u], least, n[u])
				VSCALEFPD(n[u], e, e)
				continue
			}
			VPSLLQ(Imm(52), t[u], t[u])
			v.Mul(t[u], e, e)
		}
		return even
	}
}

// clamp returns a function that emits x = min(max(x, lo), hi). The minimum and
// maximum of a NaN in the last operand is that NaN.
func (v vec) clamp(lo, hi float64) func(x []reg.VecVirtual) {
	lowest, highest := v.copyOf(v.constant(lo)), v.copyOf(v.constant(hi))
	return func(x []reg.VecVirtual) {
		for _, x := range x {
			VMAXPD(x, lowest, x)
		}
		for _, x := range x {
			VMINPD(x, highest, x)
		}
	}
}

// boundReduced stands for clamp on AVX-512, where VSCALEFPD does what is right
// for any n, NaN and infinities included, if only its other operand is finite
// and positive. So a bound is put on r, which exceeds it only where it means
// nothing, and which it replaces if it is NaN.
func (v vec) boundReduced(r []reg.VecVirtual) {
	const leastMagnitude = 2
	for _, r := range r {
		VRANGEPD_BCST(Imm(leastMagnitude), entry(math.Float64bits(0.5)), r, r)
	}
}

// expReduce returns t and n, and leaves r₁ in x.
func (v vec) expReduce(x []reg.VecVirtual, magic float64) (t, n []reg.VecVirtual) {
	t, n = v.Regs(len(x)), v.Regs(len(x))
	for u := range x {
		VBROADCASTSD(entry(math.Float64bits(log2e)), t[u])
		v.fmaddConst(magic, x[u], t[u])
	}
	for u := range x {
		v.subConst(magic, t[u], n[u])
	}
	for u := range x {
		v.fnmaddConst(ln2, n[u], x[u])
	}
	return t, n
}

// exp64Polynomial returns r + r²·q(r).
func (v vec) exp64Polynomial(r []reg.VecVirtual) []reg.VecVirtual {
	r2, even, odd := v.Regs(len(r)), v.Regs(len(r)), v.Regs(len(r))
	for u := range r {
		v.Mul(r[u], r[u], r2[u])
	}
	v.hornerConst(exp64Q[0], exp64Q[2], exp64Q[4], r2, even)
	v.hornerConst(exp64Q[1], exp64Q[3], exp64Q[5], r2, odd)
	for u := range r {
		v.Fmadd231(odd[u], r[u], even[u])
	}
	for u := range r {
		v.Fmadd213(r[u], r2[u], even[u])
	}
	return even
}

// hornerConst emits p = a + b·x + c·x².
func (v vec) hornerConst(a, b, c float64, x, p []reg.VecVirtual) {
	for u := range x {
		VBROADCASTSD(entry(math.Float64bits(c)), p[u])
		v.fmaddConst(b, x[u], p[u])
	}
	for u := range x {
		v.fmaddConst(a, x[u], p[u])
	}
}

// expLoop runs body over n elements, several vectors at a time.
func (v vec) expLoop(n reg.Register, body func(ls []step)) {
	unroll := 2
	if v.Wide {
		unroll = 4
	}
	v.groups(n, unroll, body, nil)
}

// differences returns x - y.
func differences(ls []step, x reg.Register, y func(l step) Op) []reg.VecVirtual {
	d := make([]reg.VecVirtual, len(ls))
	for u, l := range ls {
		d[u] = l.load(x)
		l.Sub(y(l), d[u], d[u])
	}
	return d
}

func expTo(v vec) {
	dst, x, n := Arg("dst"), Arg("x"), Arg("n")
	exp := v.exponential()
	v.expLoop(n, func(ls []step) {
		d := make([]reg.VecVirtual, len(ls))
		for u, l := range ls {
			d[u] = l.load(x)
		}
		for u, e := range exp(d) {
			ls[u].store(e, dst)
		}
	})
}

func expSubTo(v vec) {
	dst, x, y, n := Arg("dst"), Arg("x"), Arg("y"), Arg("n")
	exp := v.exponential()
	v.expLoop(n, func(ls []step) {
		for u, e := range exp(differences(ls, x, func(l step) Op { return l.load(y) })) {
			ls[u].store(e, dst)
		}
	})
}

func expSubAdd(v vec) {
	x, y, sum, n := Arg("x"), Arg("y"), Arg("sum"), Arg("n")
	exp := v.exponential()
	v.expLoop(n, func(ls []step) {
		for u, e := range exp(differences(ls, x, func(l step) Op { return l.load(y) })) {
			t := ls[u].load(sum)
			v.Add(e, t, t)
			ls[u].store(e, x) // may narrow e where it is
			ls[u].store(t, sum)
		}
	})
}

// prefetch emits a request for each line of elements at p + n, of which there
// need not be any.
func prefetch(ls []step, p reg.Register, n int) {
	for _, l := range ls {
		if m := l.at(p); m.Disp%64 == 0 {
			m.Disp += n * l.size
			PREFETCHT0(m)
		}
	}
}

// sumExpAhead is what the comment on SumExp says.
const sumExpAhead = 1024

// expShiftSum returns the sum, and stores what it sums if there is a dst.
func expShiftSum(store bool) func(vec) {
	return func(v vec) {
		x, n := Arg("x"), Arg("n")
		var dst reg.Register
		if store {
			dst = Arg("dst")
		}
		shift := v.broadcastParam("shift")
		exp := v.exponential()
		sum := v.Reg()
		v.zero(sum)
		v.expLoop(n, func(ls []step) {
			if !store {
				prefetch(ls, x, sumExpAhead)
			}
			for u, e := range exp(differences(ls, x, func(step) Op { return shift })) {
				ls[u].addTo(sum, e)
				if store {
					ls[u].store(e, dst)
				}
			}
		})
		v.returnSum(sum)
	}
}

// addTo adds to sum those lanes of x that are not masked out.
func (l step) addTo(sum, x reg.VecVirtual) {
	switch {
	case l.mask == nil:
		VADDPD(x, sum, sum)
	case l.Wide:
		VADDPD(x, sum, l.mask, sum)
	default:
		m := l.mask
		if l.widens() {
			m = YMM()
			VPMOVSXDQ(l.mask, m)
		}
		t := l.Reg()
		VANDPD(m, x, t)
		VADDPD(t, sum, sum)
	}
}

// logTo takes a shorter way where no lane of a vector needs care: the branch is
// nearly always predicted.
func logTo(v vec) {
	dst, x, n := Arg("dst"), Arg("x"), Arg("n")
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
		normal, done := Unique("normal"), Unique("stored")
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
	t := v.Reg()
	VPSUBQ(c[minNormal], x, t)
	if v.Wide {
		const above = 6 // unsigned
		k := K()
		VPCMPUQ(Imm(above), c[maxFinite-minNormal], t, k)
		KORTESTW(k, k)
		JZ(LabelRef(label))
		return
	}
	// Of a negative x, the sign bit of x tells, of a smaller x, that of t.
	m, signs := v.Reg(), GP32()
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
		scaled, adjust := v.copyOf(x), v.Reg()
		if v.Wide {
			sub := K()
			VCMPPD(Imm(less), entry(uint64(minNormal)), x, sub)
			VMULPD(v.constant(0x1p54), x, sub, scaled)
			VMOVUPD_Z(v.constant(54), sub, adjust)
		} else {
			sub, t := v.Reg(), v.Reg()
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
	k, m = v.Reg(), v.Reg()
	VPSUBQ(c[logOffset], x, m)
	VPSRLQ(Imm(52), m, k)
	VORPD(c[two52], k, k)
	v.Sub(c.f(0x1p52+2048), k, k)
	VANDPD(c[mantissa], m, m)
	VPADDQ(c[sqrtHalf], m, m)
	return k, m
}

// log64 returns log(x) - adjust·ln2 of a normal x; a nil adjust is 0.
func (v vec) log64(c constants, x, adjust reg.VecVirtual) reg.VecVirtual {
	k, m := v.logReduce(c, x)
	if adjust != nil {
		v.Sub(adjust, k, k)
	}
	f, s, z, w := v.Reg(), v.Reg(), v.Reg(), v.Reg()
	v.Sub(c.f(1), m, f)
	v.Add(c.f(1), m, s)
	VDIVPD(s, f, s)
	v.Mul(s, s, z)
	v.Mul(z, z, w)
	p := v.evenOdd(c, log64P, z, w)
	half, h := v.Reg(), v.Reg()
	v.Mul(c.f(0.5), f, half)
	v.Mul(half, f, h)
	VFMSUB213PD(h, f, half) // what the rounding of h lost
	v.Fmadd213(h, z, p)

	kh, hi, lo := v.Reg(), v.Reg(), v.Reg()
	v.Mul(c.f(ln2Hi42), k, kh)
	v.Add(f, kh, hi)
	v.Sub(kh, hi, lo)
	v.Sub(lo, f, lo)
	v.Fmadd231(c.f(ln2Lo42), k, lo)
	v.Sub(half, lo, lo)
	v.Fmadd231(s, p, lo)
	v.Sub(h, lo, lo)
	v.Add(lo, hi, hi)
	return hi
}

func (v vec) log32(c constants, x reg.VecVirtual) reg.VecVirtual {
	k, m := v.logReduce(c, x)
	f, s, z, w := v.Reg(), v.Reg(), v.Reg(), v.Reg()
	v.Sub(c.f(1), m, f)
	v.Add(c.f(1), m, s)
	VDIVPD(s, f, s)
	v.Mul(s, s, z)
	v.Mul(z, z, w)
	p := v.evenOdd(c, log32P, z, w)
	v.Mul(s, z, z)
	v.Add(s, s, s)
	v.Fmadd231(z, p, s)
	v.Fmadd231(c.f(ln2), k, s)
	return s
}
