package vec

import (
	"math"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/vec/internal/coef"
)

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
// p has all the digits of e, and q all the digits of 1 + e. If p were computed as 1 - q, it would lose
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

func sigmoid64(x float64) (y, d float64) {
	p, q := halves(exp64(-math.Abs(x)))
	return bySign(x, p, q), p * q
}

func siLU64(x float64) (y, d float64) {
	p, q := halves(exp64(-math.Abs(x)))
	return product(x, bySign(x, p, q), coef.SiLUBound, p*q)
}

// product returns max(x, -bound)·s and x·d + s, with x clamped to [-bound, bound] in the
// second.
func product(x, s, bound, d float64) (y, slope float64) {
	if x < -bound {
		x = -bound
	}
	return x * s, math.FMA(d, min(x, bound), s)
}

// tanh64 returns tanh(x) and its derivative. With m = |x|, both are functions of F:
//
//	m < 0.625:   tanh m = m + m·F,  F = -m²·N(m²)/D(m²),  tanh′ = 1 - tanh²
//	otherwise:   tanh m = 1 + F,    F = -2e/(1 + e),  e = exp(-2m),  tanh′ = -F·(2 + F)
//
// N/D comes from Lambert's continued fraction tanh x = x/(1 + x²/(3 + x²/(5 + ...))),
// ended at 15. Its relative error is below 2⁻⁵⁷.
func tanh64(x float64) (y, d float64) {
	m := math.Abs(x)
	e := exp64(-(m + m))
	if m < 0.625 {
		z := float64(m * m)
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

// softplus64 returns log(1 + exp(x)) = max(x, 0) + log(1 + e), and its derivative. The
// logarithm is computed as in log64. With f = e, or f = (1 + e)/2 - 1 and log 2 apart if e is
// large, it is
//
//	log(1 + f) = f - (h - s·(h + z·P(z))),  h = f²/2,  s = f/(2 + f),  z = s².
func softplus64(x float64) (y, d float64) {
	e := exp64(-math.Abs(x))
	p, q := halves(e)
	f, k, kLo := e, 0., 0.
	if e > math.Sqrt2-1 {
		f, k, kLo = float64(e*0.5)-0.5, coef.Ln2, coef.Ln2Lo
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

// gELU64 returns x·Φ(x) and Φ(x) + x·φ(x). With u = |x| and Mills' ratio M,
//
//	φ(u) = exp(-u²/2)/√(2π),  Φ(-u) = φ(u)·M(u),  M(u) = Mills(t)/(u + c).
//
// The exponential would magnify the rounding of u². Its effect is corrected to first order.
func gELU64(x float64) (y, d float64) {
	u := min(math.Abs(x), coef.GELUBound)
	h := float64(u * u)
	low := math.FMA(u, u, -h) * 0.5
	e := exp64(-0.5 * h)
	phi := math.FMA(-low, e, e) * coef.InvSqrt2Pi

	r := 1 / (u + coef.MillsCenter)
	t := (u - coef.MillsCenter) * r
	t2 := t * t
	even, odd := coef.Mills[22], coef.Mills[23]
	for i := 20; i >= 0; i -= 2 {
		even, odd = math.FMA(even, t2, coef.Mills[i]), math.FMA(odd, t2, coef.Mills[i+1])
	}
	p := float64(math.FMA(odd, t, even) * r * phi)
	return product(x, bySign(x, p, 1-p), coef.GELUBound, phi)
}
