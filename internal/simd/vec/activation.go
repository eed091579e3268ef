package vec

import (
	"math"

	"revnum/internal/simd/cpu"
)

// Sigmoid computes y_i = σ(x_i) = 1/(1 + exp(-x_i)) and d_i = σ′(x_i).
func Sigmoid(y, d, x []float64) {
	checkActivation(y, d, x)
	sigmoidTo(y, d, x)
}

// Tanh computes y_i = tanh(x_i) and d_i = tanh′(x_i) = 1 - y_i².
func Tanh(y, d, x []float64) {
	checkActivation(y, d, x)
	tanhTo(y, d, x)
}

// Softplus computes y_i = log(1 + exp(x_i)) and d_i = σ(x_i).
func Softplus(y, d, x []float64) {
	checkActivation(y, d, x)
	softplusTo(y, d, x)
}

// GELU computes y_i = x_i·Φ(x_i) and d_i = Φ(x_i) + x_i·φ(x_i), with the distribution
// Φ and the density φ of standard normal numbers.
func GELU(y, d, x []float64) {
	checkActivation(y, d, x)
	geluTo(y, d, x)
}

// SiLU computes y_i = x_i·σ(x_i) and d_i = σ(x_i) + x_i·σ′(x_i).
func SiLU(y, d, x []float64) {
	checkActivation(y, d, x)
	siluTo(y, d, x)
}

func checkActivation(y, d, x []float64) {
	if len(d) != len(y) || len(x) != len(y) {
		panic(badLength)
	}
}

// Rectify computes dst_i += pos·from_i where x_i is positive or NaN, and neg·from_i
// elsewhere. A factor of 0 adds nothing, whatever it multiplies.
func Rectify[T cpu.Float](dst []T, pos, neg T, x, from []T) {
	if len(x) != len(dst) || len(from) != len(dst) {
		panic(badLength)
	}
	rectify(dst, pos, neg, x, from)
}

// DivTo computes dst_i = x_i/y_i.
func DivTo[T cpu.Float](dst, x, y []T) {
	if len(x) != len(dst) || len(y) != len(dst) {
		panic(badLength)
	}
	divTo(dst, x, y)
}

func genericRectify[T cpu.Float](dst []T, pos, neg T, x, from []T) {
	for i, v := range x {
		c := pos
		if v <= 0 {
			c = neg
		}
		if c != 0 {
			dst[i] += T(c * from[i])
		}
	}
}

func genericDivTo[T cpu.Float](dst, x, y []T) {
	for i, v := range x {
		dst[i] = v / y[i]
	}
}

// All functions below begin with e = exp(-|x|), which neither overflows nor loses digits.
// They use
//
//	p = σ(-|x|) = e/(1 + e),  q = σ(|x|) = 1/(1 + e),  σ′(x) = p·q.
//
// p has all the digits of e, and q those of 1 + e. If p were computed as 1 - q, it would lose
// the digits of e below the last place of 1.

func halves(e float64) (p, q float64) {
	q = 1 / (1 + e)
	return e * q, q
}

// bySign returns neg if the sign bit of x is set, and pos otherwise.
func bySign(x, neg, pos float64) float64 {
	if math.Signbit(x) {
		return neg
	}
	return pos
}

func genericSigmoidTo(y, d, x []float64) {
	for i, v := range x {
		p, q := halves(exp64(-math.Abs(v)))
		y[i], d[i] = bySign(v, p, q), p*q
	}
}

// siluBound and geluBound are magnitudes of x at which the factor of a negative x is 0.
// Beyond them x is clamped, because the product of 0 and an infinite x would be NaN.
const (
	siluBound = 800
	geluBound = 40
)

func genericSiluTo(y, d, x []float64) {
	for i, v := range x {
		p, q := halves(exp64(-math.Abs(v)))
		y[i], d[i] = product(v, bySign(v, p, q), siluBound, p*q)
	}
}

// product returns max(x, -bound)·s and x·d + s, with x clamped to [-bound, bound] in the
// second.
func product(x, s, bound, d float64) (y, slope float64) {
	if x < -bound {
		x = -bound
	}
	return x * s, math.FMA(d, min(x, bound), s)
}

// tanhOf returns tanh(x) and its derivative. With m = |x|, both are functions of F:
//
//	m < 0.625:   tanh m = m + m·F,  F = -m²·N(m²)/D(m²),  tanh′ = 1 - tanh²
//	otherwise:   tanh m = 1 + F,    F = -2e/(1 + e),  e = exp(-2m),  tanh′ = -F·(2 + F)
//
// N/D comes from Lambert's continued fraction tanh x = x/(1 + x²/(3 + x²/(5 + ...))),
// ended at 15. Its relative error is below 2⁻⁵⁷.
func tanhOf(x float64) (y, d float64) {
	m := math.Abs(x)
	e := exp64(-(m + m))
	if m < 0.625 {
		z := m * m
		n := math.FMA(math.FMA(z+594, z, 45045), z, 675675)
		den := math.FMA(math.FMA(math.FMA(z+630, z, 51975), z, 945945), z, 2027025)
		f := -(n * z) / den
		y = math.FMA(f, m, m)
		d = math.FMA(-y, y, 1)
	} else {
		f := -2 * e / (e + 1)
		y = f + 1
		d = -((f + 2) * f)
	}
	return math.Copysign(y, x), d
}

func genericTanhTo(y, d, x []float64) {
	for i, v := range x {
		y[i], d[i] = tanhOf(v)
	}
}

// softplusOf returns log(1 + exp(x)) = max(x, 0) + log(1 + e), and its derivative. The
// logarithm is that of log64. With f = e, or f = (1 + e)/2 - 1 and log 2 apart if e is
// large, it is
//
//	log(1 + f) = f - (h - s·(h + z·P(z))),  h = f²/2,  s = f/(2 + f),  z = s².
func softplusOf(x float64) (y, d float64) {
	e := exp64(-math.Abs(x))
	p, q := halves(e)
	f, k, kLo := e, 0., 0.
	if e > math.Sqrt2-1 {
		f, k, kLo = float64(e*0.5)-0.5, ln2Hi, ln2Lo
	}
	s := f / (f + 2)
	z := s * s
	h := float64(float64(f*0.5) * f)
	g := math.FMA(log64Polynomial(z), z, h)
	log := (k + f) + (math.FMA(g, s, kLo) - h)
	above := x
	if x < 0 {
		above = 0
	}
	return log + above, bySign(x, p, q)
}

func genericSoftplusTo(y, d, x []float64) {
	for i, v := range x {
		y[i], d[i] = softplusOf(v)
	}
}

// millsQ approximates (u + c)·(1 - Φ(u))/φ(u) as a polynomial in t = (u - c)/(u + c),
// c = 3.5, for 0 <= u <= 40. It is the interpolation of degree 23 at Chebyshev's nodes,
// with a relative error of 2⁻⁵⁴.
var millsQ = [24]float64{
	0x1.ddb07f4534143p+0, -0x1.6aeb529b4ffd7p+0, 0x1.94d07d4aac0d4p-1, -0x1.29e0c849bd165p-2,
	0x1.657527ab6b2b5p-5, 0x1.09f81f665350cp-6, -0x1.05f19de7abee3p-7, -0x1.246abb8c0804cp-10,
	0x1.3935d12725bb6p-10, 0x1.60610327a4300p-13, -0x1.8d5502b9d2febp-13, -0x1.8b136ab241b63p-15,
	0x1.e3e7ac781f32cp-16, 0x1.db5dfc5d6cd54p-17, -0x1.87fbebe8804f9p-19, -0x1.f1983795b527fp-19,
	-0x1.8135f579c300dp-22, 0x1.8bfe1e1bbf36cp-21, 0x1.4d6546850307cp-22, -0x1.433d24be4e984p-24,
	-0x1.8728bb1e4c0a7p-24, -0x1.4f36799422a9ap-27, 0x1.a7128f0972bf6p-27, 0x1.0184a20ad592dp-28,
}

// geluOf returns x·Φ(x) and Φ(x) + x·φ(x). With u = |x| and Mills' ratio M,
//
//	φ(u) = exp(-u²/2)/√(2π),  Φ(-u) = φ(u)·M(u),  M(u) = millsQ(t)/(u + c).
//
// The exponential would magnify the rounding of u². Its effect is corrected to first order.
func geluOf(x float64) (y, d float64) {
	const center, invSqrt2Pi = 3.5, 0x1.9884533d43651p-2
	u := min(math.Abs(x), geluBound)
	h := float64(u * u)
	low := math.FMA(u, u, -h) * 0.5
	e := exp64(-0.5 * h)
	phi := math.FMA(-low, e, e) * invSqrt2Pi

	r := 1 / (u + center)
	t := (u - center) * r
	t2 := t * t
	even, odd := millsQ[22], millsQ[23]
	for i := 20; i >= 0; i -= 2 {
		even, odd = math.FMA(even, t2, millsQ[i]), math.FMA(odd, t2, millsQ[i+1])
	}
	p := math.FMA(odd, t, even) * r * phi
	return product(x, bySign(x, p, 1-p), geluBound, phi)
}

func genericGeluTo(y, d, x []float64) {
	for i, v := range x {
		y[i], d[i] = geluOf(v)
	}
}
