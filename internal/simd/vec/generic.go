package vec

import (
	"math"
	"math/bits"

	"revnum/internal/number"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/vec/internal/coef"
)

// The pure-Go loops. Without assembly, these are the only loops. With it, they are the
// reference of its tests.

func genericDot[T cpu.Float](x, y []T) T {
	var s T
	for i, v := range x {
		s += T(v * y[i])
	}
	return s
}

func genericSum[T cpu.Float](x []T) T {
	var s T
	for _, v := range x {
		s += v
	}
	return s
}

func genericSumSquares[T cpu.Float](x []T) T { return genericDot(x, x) }

func genericMax[T cpu.Float](x []T) T {
	m := T(math.Inf(-1))
	for _, v := range x {
		if v >= m || math.IsNaN(float64(v)) { // the chain of max takes five times as long
			m = max(m, v)
		}
	}
	return m
}

func genericSumAbs[T cpu.Float](x []T) T {
	var s T
	for _, v := range x {
		s += magnitude(v)
	}
	return s
}

func genericDotSign[T cpu.Float](x, y []T) T {
	var s T
	for i, v := range x {
		s += T(signOf(v) * y[i])
	}
	return s
}

func magnitude[T cpu.Float](x T) T {
	if cpu.Is64[T]() {
		return T(abs64(float64(x)))
	}
	return T(abs32(float32(x)))
}

// signOf returns 1 or -1, or x if x is zero or NaN.
func signOf[T cpu.Float](x T) T {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

func genericMaxAbs[T cpu.Float](x []T) T {
	var m T
	for _, v := range x {
		if v := magnitude(v); v >= m || math.IsNaN(float64(v)) {
			m = max(m, v)
		}
	}
	return m
}

func genericAddConstant[T cpu.Float](dst []T, c T) {
	for i := range dst {
		dst[i] += c
	}
}

func genericComplexAddConstant(dst []complex128, c complex128) {
	for i := range dst {
		dst[i] += c
	}
}

func genericComplexSum(x []complex128) complex128 {
	var s complex128
	for _, v := range x {
		s += v
	}
	return s
}

func genericComplexDot(x, y []complex128) complex128 {
	var re, im float64
	for i, v := range x {
		w := y[i]
		re += float64(real(v)*real(w)) + float64(imag(v)*imag(w))
		im += float64(real(v)*imag(w)) - float64(imag(v)*real(w))
	}
	return complex(re, im)
}

func genericComplexAxpy(alpha complex128, x, y []complex128) {
	for i, v := range x {
		y[i] += number.Times(alpha, v)
	}
}

func genericComplexAddProduct(dst []complex128, sign, turn float64, x, y []complex128) {
	for i, v := range x {
		p := number.Times(complex(real(v), turn*imag(v)), y[i])
		dst[i] += complex(sign*real(p), sign*imag(p))
	}
}

func genericAxpyTo[T cpu.Float](dst []T, alpha T, x, y []T) {
	for i, v := range x {
		dst[i] = y[i] + T(alpha*v)
	}
}

func genericAddProduct[T cpu.Float](dst []T, alpha T, x, y []T) {
	for i, v := range x {
		dst[i] += T(alpha * T(v*y[i]))
	}
}

func genericAddQuotient[T cpu.Float](dst []T, alpha T, x, y []T) {
	for i, v := range x {
		dst[i] += T(alpha * (v / y[i]))
	}
}

func genericAddTo[T cpu.Float](dst, x, y []T) {
	for i, v := range x {
		dst[i] = v + y[i]
	}
}

func genericMulTo[T cpu.Float](dst, x, y []T) {
	for i, v := range x {
		dst[i] = v * y[i]
	}
}

func genericMaxTo[T cpu.Float](dst, x, y []T) {
	for i, v := range x {
		dst[i] = max(v, y[i])
	}
}

func genericScaleTo[T cpu.Float](dst []T, alpha T, x []T) {
	for i, v := range x {
		dst[i] = alpha * v
	}
}

func genericAffineMax[T cpu.Float](x, top []T, scale, shift T) {
	for i, v := range x {
		v = T(scale*v) + shift
		x[i] = v
		top[i] = max(top[i], v)
	}
}

func genericAddAffine[T cpu.Float](y []T, a T, x []T, b T) {
	for i, v := range x {
		y[i] += T(a * v)
		y[i] += b
	}
}

func genericAddAffineProduct[T cpu.Float](y []T, a T, x, gain []T, b T, bias []T) {
	for i, v := range x {
		y[i] += T(a * T(v*gain[i]))
		y[i] += T(b * bias[i])
	}
}

func genericCenterSquares[T cpu.Float](dst, x []T, c T) (s T) {
	for i, v := range x {
		d := v - c
		dst[i] = d
		s += T(d * d)
	}
	return s
}

func genericHuber[T cpu.Float](d, x, y []T, delta T) (s T) {
	for i, v := range x {
		r := v - y[i]
		c := min(max(r, -delta), delta)
		d[i] = c
		s += T(c * (r - T(c/2)))
	}
	return s
}

func genericSubColumn[T cpu.Float](n int, dst []T, ldd int, x []T, ldx int, c []T) {
	for i, ci := range c {
		d := dst[i*ldd:][:n]
		for p, v := range x[i*ldx:][:n] {
			d[p] = v - ci
		}
	}
}

func genericCenterScale[T cpu.Float](dst []T, ldd int, x []T, ldx int, c, s []T) {
	for i, ci := range c {
		d, r := dst[i*ldd:][:len(s)], x[i*ldx:][:len(s)]
		for p, v := range s {
			d[p] = (r[p] - ci) * v
		}
	}
}

func genericExpSubTo[T cpu.Float](dst, x, y []T) {
	for i, v := range x {
		dst[i] = T(exp[T](float64(v) - float64(y[i])))
	}
}

func genericExpSubAdd[T cpu.Float](x, y, sum []T) {
	for i, v := range x {
		e := exp[T](float64(v) - float64(y[i]))
		x[i] = T(e)
		sum[i] = T(float64(sum[i]) + e)
	}
}

func genericExpShiftSum[T cpu.Float](dst, x []T, shift T) float64 {
	var s float64
	for i, v := range x {
		e := exp[T](float64(v) - float64(shift))
		dst[i] = T(e)
		s += e
	}
	return s
}

func genericSumExp[T cpu.Float](x []T, shift T) float64 {
	var s float64
	for _, v := range x {
		s += exp[T](float64(v) - float64(shift))
	}
	return s
}

// exp returns exp(x) to the accuracy that an element of type T needs.
func exp[T cpu.Float](x float64) float64 {
	if cpu.Is64[T]() {
		return exp64(x)
	}
	return expFor32(x)
}

// The exponential. Let n be the multiple of 1/8 nearest to x/ln2, and r = x - n·ln2.
// Then
//
//	exp(x) = 2ⁿ·exp(r),  |r| <= ln2/16,  exp(r) = 1 + r + r²·q(r)
//
// where q is the minimax polynomial (by the Remez exchange) for the relative error of
// exp(r), which is 2⁻⁵⁸. It is evaluated as even + r·odd, which is two short chains in
// r² instead of a long one.
//
// To get n, add a number so large that the unit of the sum is 1/8. The low bits of the
// sum are then 8·(n + bias), where bias is the low part of that number. The fraction of
// n is the index of a table of 2^(j/8) = hi + lo, which fits a vector register.
//
// The reduced r would lose digits if n·ln2 were rounded. Let Ln2 be the double
// nearest to ln2. x - n·Ln2 is exact under FMA, because for n != 0 both terms are
// multiples of 2⁻⁵⁷, and the difference is less than 2⁻⁴. The numbers that are rounded
// then are r - n·Ln2Lo, exp(r) - 1 and its product by hi. They are below 2⁻⁴ times the
// result. hi is added last, so the result is within 0.65 units in the last place. A
// subnormal result is rounded once more, and is within 0.85.
//
// For the scaling, a sum of ⌊n⌋ and a bias is split in two, because the power of two
// itself need not be a double. Only the second product can round.
//
// expFor32 serves float32, and returns a float64 that is still to be rounded. It has no
// table: n is an integer, and |r| <= ln2/2. Its q has a relative error of 2⁻³⁴. Other
// errors do not matter in double precision.

const log2e = 0x1.71547652b82fep+0

// exp64 returns exp(x).
func exp64(x float64) float64 {
	const (
		bias  = 2 * 1023
		magic = 0x1.8p49 + bias
	)
	if x > 710 { // where the result is +Inf
		x = 710
	}
	if x < -750 { // where it is 0
		x = -750
	}
	t := math.FMA(x, log2e, magic)
	n := t - magic
	r := math.FMA(-n, coef.Ln2Lo, math.FMA(-n, coef.Ln2, x))

	r2 := r * r
	q := &coef.Exp64
	even := math.FMA(math.FMA(q[4], r2, q[2]), r2, q[0])
	odd := math.FMA(math.FMA(q[5], r2, q[3]), r2, q[1])
	p := math.FMA(math.FMA(odd, r, even), r2, r)

	b := math.Float64bits(t)
	power := &coef.Eighths64[b&7]
	e := power[0] + math.FMA(power[0], p, power[1])

	sum := b >> 3 & 0xfff
	return float64(e * math.Float64frombits(sum/2<<52) * math.Float64frombits((sum-sum/2)<<52))
}

// expFor32 returns exp(x) for a result of type float32. When the result is rounded to
// float32, it overflows and underflows as it should.
func expFor32(x float64) float64 {
	const (
		q0 = 0x1.0000003a1aefap-1
		q1 = 0x1.5555544368485p-3
		q2 = 0x1.55548dd864c29p-5
		q3 = 0x1.1112708c36ee4p-7
		q4 = 0x1.6d8cf41da61fcp-10
		q5 = 0x1.9f08a7c58f4ffp-13

		bias  = 1023
		magic = 0x1.8p52 + bias
	)
	if x > 90 {
		x = 90
	}
	if x < -105 {
		x = -105
	}
	t := math.FMA(x, log2e, magic)
	n := t - magic
	r := math.FMA(-n, coef.Ln2, x)
	r2 := r * r
	even := math.FMA(math.FMA(q4, r2, q2), r2, q0)
	odd := math.FMA(math.FMA(q5, r2, q3), r2, q1)
	e := 1 + math.FMA(math.FMA(odd, r, even), r2, r)
	return float64(e * math.Float64frombits(math.Float64bits(t)<<52))
}

// The logarithm. Let x = 2ᵏ·m, m in [√½, √2), f = m - 1 and s = f/(2 + f). Then
//
//	log(x) = k·ln2 + log((1+s)/(1-s)),  log((1+s)/(1-s)) = 2s + s·z·P(z),  z = s²
//
// where P is the minimax polynomial for the relative error of the logarithm on
// z <= (√2-1)⁴. It is evaluated as even + z·odd, too. f is exact. Because
// 2s = f - s·f = f - f²/2 + s·f²/2,
//
//	log(m) = f - (h - s·(h + z·P(z))),  h = f²/2
//
// and only small terms are rounded. They are added to the error of k·ln2 + f (the
// product by the upper 42 bits of ln2 is exact), and then to that sum itself. The
// result is within 0.8 units in the last place.

// log64Polynomial returns P(z) of log64.
func log64Polynomial(z float64) float64 {
	p := &coef.Log64
	w := z * z
	even := math.FMA(math.FMA(math.FMA(p[6], w, p[4]), w, p[2]), w, p[0])
	odd := math.FMA(math.FMA(p[5], w, p[3]), w, p[1])
	return math.FMA(odd, z, even)
}

// log64 returns log(x).
func log64(x float64) float64 {
	if y, ok := logSpecial(x); ok {
		return y
	}
	adjust := 0.
	if x < 0x1p-1022 { // subnormal
		x *= 0x1p54
		adjust = 54
	}
	k, m := logReduce(x)
	k -= adjust

	f := m - 1
	s := f / (m + 1)
	z := s * s
	p := log64Polynomial(z)
	half := 0.5 * f
	h := float64(half * f)
	hLo := math.FMA(half, f, -h)
	g := math.FMA(z, p, h)

	kLn2 := k * coef.Ln2Hi42
	hi := float64(kLn2) + f
	lo := math.FMA(k, coef.Ln2Lo42, f-(hi-float64(kLn2))) - hLo
	return hi + (math.FMA(s, g, lo) - h)
}

// logSpecial returns log(x) if there is no finite logarithm.
func logSpecial(x float64) (y float64, ok bool) {
	switch {
	case x == 0:
		return math.Inf(-1), true
	case x < 0 || math.IsNaN(x):
		return math.NaN(), true
	case x > math.MaxFloat64:
		return x, true
	}
	return 0, false
}

// logReduce returns k and m with x = 2ᵏ·m and m in [√½, √2), for a normal x.
func logReduce(x float64) (k, m float64) {
	const sqrtHalf = 0x3fe6a09e667f3bcd // bits of √½
	b := int64(math.Float64bits(x)) - sqrtHalf
	return float64(b >> 52), math.Float64frombits(uint64(b&(1<<52-1) + sqrtHalf))
}

func genericSinCos[T cpu.Float](sin, cos, x []T) {
	for i, v := range x {
		s, c := sinCosOf(float64(v))
		sin[i], cos[i] = T(s), T(c)
	}
}

const trigMagic = 0x1.8p52

// sinCosOf computes what the assembly computes, in the same order. It also takes
// large angles, which the assembly leaves to it.
func sinCosOf(x float64) (sin, cos float64) {
	r, quadrant := reduceAngle(x)
	z := float64(r * r)
	p, q := coef.Sin[5], coef.Cos[5]
	for j := 4; j >= 0; j-- {
		p = float64(p*z) + coef.Sin[j]
		q = float64(q*z) + coef.Cos[j]
	}
	sin = r + float64(p*float64(z*r))
	h := float64(z * 0.5)
	w := 1 - h
	cos = w + (float64(q*float64(z*z)) + ((1 - w) - h)) // 1-w-h is the error of w

	if quadrant&1 != 0 {
		sin, cos = cos, sin
	}
	flip := func(v float64, sign uint64) float64 { return math.Float64frombits(math.Float64bits(v) ^ sign<<63) }
	return flip(sin, quadrant>>1&1), flip(cos, (quadrant+1)>>1&1)
}

// reduceAngle returns r = x - k·π/2 for the integer k nearest to x·2/π, and the low
// bits of k.
func reduceAngle(x float64) (r float64, k uint64) {
	if !(math.Abs(x) <= 1<<20) {
		return reduceLargeAngle(x)
	}
	// k and k+magic have the same low bits.
	quadrant := float64(x*coef.TwoOverPi) + trigMagic
	m := quadrant - trigMagic
	a := x - float64(m*coef.HalfPi1) // exact
	t := float64(m * coef.HalfPi2)   // exact
	r = a - t
	e := (a - r) - t // the rounding error of r
	r -= float64(m*coef.HalfPi3) - e
	return r, math.Float64bits(quadrant)
}

// twoOverPiBits are 64 zeros, followed by the first 1216 bits of 2/π.
var twoOverPiBits = [20]uint64{
	0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
	0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
	0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
	0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
	0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
}

// reduceLargeAngle is reduceAngle for |x| > 2²⁰. It returns NaN for infinities and
// NaN.
//
// Let |x| = m·2^e with an integer m of 53 bits. Only the bits of 2/π from 2^(1-e) on
// matter for k mod 4 and r; the others make multiples of 4. The function takes 192
// of these bits, and the first 128 bits of the fraction of their product with m. No
// double is nearer than 2⁻⁶¹ to a multiple of π/2 (Muller, Elementary Functions,
// 2006, chapter 9), so r has 66 bits or more. The method is by Payne and Hanek
// (1983).
func reduceLargeAngle(x float64) (r float64, k uint64) {
	if x-x != 0 {
		return math.NaN(), 0
	}
	b := math.Float64bits(x) &^ (1 << 63)
	m := b&(1<<52-1) | 1<<52
	from := int(b>>52) - 1075 + 62 // e - 2, after the zeros
	var w [3]uint64
	for i := range w {
		t := twoOverPiBits[from/64+i:]
		w[i] = t[0]<<(from%64) | t[1]>>(64-from%64)
	}

	// The low 192 bits of the product are the angle in turns, without whole ones.
	h1, mid := bits.Mul64(m, w[1])
	h2, lo := bits.Mul64(m, w[2])
	mid, carry := bits.Add64(mid, h2, 0)
	hi := m*w[0] + h1 + carry

	// The nearest integer, and the rest as sign and magnitude.
	k = hi >> 62
	hi, mid = hi<<2|mid>>62, mid<<2|lo>>62
	sign := 1.0
	if hi>>63 != 0 {
		k++
		sign = -1
		mid, carry = bits.Sub64(0, mid, 0)
		hi, _ = bits.Sub64(0, hi, carry)
	}
	zeros := bits.LeadingZeros64(hi)
	hi, mid = hi<<zeros|mid>>(64-zeros), mid<<zeros
	// r is (f + g)·2^(-53-zeros), with |g| below a unit of f, times π/2.
	const halfPi, halfPiLo = 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54
	f, g := float64(hi>>11), math.Ldexp(float64(hi<<53|mid>>11), -64)
	r = float64(f * halfPi)
	r += math.FMA(f, halfPi, -r) + (float64(f*halfPiLo) + float64(g*halfPi))
	r = math.Ldexp(sign*r, -53-zeros)
	if x < 0 {
		return -r, -k
	}
	return r, k
}

// The largest angles that the vector code takes, over float64 and float32.
const (
	mostAngle   = 1 << 20
	mostAngle32 = 1 << 17
)

func sin64(x float64) float64 {
	if math.Abs(x) <= mostAngle {
		return sin64Small(x)
	}
	sin, _ := sinCosOf(x)
	return sin
}

func cos64(x float64) float64 {
	if math.Abs(x) <= mostAngle {
		return cos64Small(x)
	}
	_, cos := sinCosOf(x)
	return cos
}

func tan64(x float64) (y, d float64) {
	if math.Abs(x) <= mostAngle {
		return tan64Small(x)
	}
	sin, cos := sinCosOf(x)
	y = sin / cos
	return y, math.FMA(y, y, 1)
}

func tan32(x float32) (y, d float32) {
	if -mostAngle32 <= x && x <= mostAngle32 {
		return tan32Small(x)
	}
	y64, d64 := tan64(float64(x))
	return float32(y64), float32(d64)
}

func sin32(x float32) float32 {
	if -mostAngle32 <= x && x <= mostAngle32 {
		return sin32Small(x)
	}
	return float32(sin64(float64(x)))
}

func cos32(x float32) float32 {
	if -mostAngle32 <= x && x <= mostAngle32 {
		return cos32Small(x)
	}
	return float32(cos64(float64(x)))
}
