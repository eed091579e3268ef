package num

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"revnum/internal/logs"
)

// Lgamma returns log |Γ(x)|, as math.Lgamma does, without the sign.
func Lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// Exponent returns the exponent of x, as math.Frexp does.
func Exponent(x float64) int {
	_, n := math.Frexp(x)
	return n
}

// GammaSign returns the sign of Γ(x), as math.Lgamma does.
func GammaSign(x float64) int {
	_, sign := math.Lgamma(x)
	return sign
}

// Digamma returns ψ(x), the derivative of log Γ(x), within about 1e-15·max(1, |ψ(x)|) for x > 0.
// It is NaN at the poles 0, -1, -2, ... The argument goes up by the recurrence to where the
// asymptotic series holds, and from the left by the reflection (Abramowitz and Stegun, 6.3.5,
// 6.3.18 and 6.3.7).
func Digamma(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, -1) || x <= 0 && x == math.Floor(x):
		return math.NaN()
	case x < 0:
		return Digamma(1-x) - math.Pi/math.Tan(math.Pi*(x-math.Round(x))) // tan has the period π
	}
	sum := 0.0
	for ; x < 12; x++ {
		sum -= 1 / x
	}
	r := 1 / (x * x)
	// Bernoulli's numbers B₂ₖ/2k.
	series := float64(r * (1./12 - float64(r*(1./120-float64(r*(1./252-float64(r*(1./240-float64(r*(1./132-float64(r*(691./32760-r/12))))))))))))
	return sum + logs.Log(x) - 0.5/x - series
}

// Trigamma returns ψ'(x), the second derivative of log Γ(x): Hurwitz's ζ(2, x), as gonum's
// mathext.Zeta computes it. It is +Inf at the poles 0, -1, -2, ...
func Trigamma(x float64) float64 {
	if x <= 0 && x == math.Floor(x) {
		return math.Inf(1)
	}
	return mathext.Zeta(2, x)
}
