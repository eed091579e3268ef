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

// digamma are the coefficients of the polynomial in x - 3.5 that is ψ(x) for 3 <= x <= 4 at the zeros of
// Chebyshev's of degree 14. Between them it differs by at most 7e-17.
var digamma = [14]float64{
	1.103156640645243, 0.3303577561002349,
	-0.05410202582084153, 0.011717641469535708,
	-0.002833166647531157, 0.0007254098217960063,
	-0.00019216400431912474, 5.202815553609615e-05,
	-1.4295640768249608e-05, 3.968351912113099e-06,
	-1.1073963072388328e-06, 3.113110993343068e-07,
	-9.450390722250657e-08, 2.6757549481357676e-08,
}

// Digamma returns ψ(x), the derivative of log Γ(x), within about 1e-15·max(1, |ψ(x)|) for x > 0.
// It is NaN at the poles 0, -1, -2, ... The argument goes up by the recurrence to where a polynomial or
// the asymptotic series holds, and from the left by the reflection (Abramowitz and Stegun, 6.3.5,
// 6.3.18 and 6.3.7).
func Digamma(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, -1) || x <= 0 && x == math.Floor(x):
		return math.NaN()
	case x < 0:
		return Digamma(1-x) - math.Pi/math.Tan(math.Pi*(x-math.Round(x))) // tan has the period π
	}
	sum := 0.0
	for ; x < 3; x++ {
		sum -= 1 / x
	}
	if x < 4 {
		t := x - 3.5
		linear := func(i int) float64 { return digamma[i] + float64(digamma[i+1]*t) }
		t2 := t * t
		cubic := func(i int) float64 { return linear(i) + float64(linear(i+2)*t2) } // that do not wait for each other
		t4 := t2 * t2
		return sum + (cubic(0) + float64(cubic(4)*t4) + float64((cubic(8)+float64(linear(12)*t4))*(t4*t4)))
	}
	for ; x < 10; x += 2 { // 1/x + 1/(x+1)
		sum -= (float64(2*x) + 1) / (x * (x + 1))
	}
	inverse := 1 / x
	r := inverse * inverse
	r2 := r * r
	// Bernoulli's numbers B₂ₖ/2k, in pairs that do not wait for each other.
	series := 1./12 - float64(r*(1./120)) + float64(r2*(1./252-float64(r*(1./240)))) + float64(r2*r2*(1./132-float64(r*(691./32760))+r2/12))
	return sum + logs.Log(x) - float64(inverse*(0.5+float64(inverse*series)))
}

// Trigamma returns ψ'(x), the second derivative of log Γ(x): Hurwitz's ζ(2, x), as gonum's
// mathext.Zeta computes it. It is +Inf at the poles 0, -1, -2, ...
func Trigamma(x float64) float64 {
	if x <= 0 && x == math.Floor(x) {
		return math.Inf(1)
	}
	return mathext.Zeta(2, x)
}
