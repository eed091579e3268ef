package num

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Lgamma returns log |Γ(x)|, as math.Lgamma does, without the sign.
func Lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// GammaSign returns the sign of Γ(x), as math.Lgamma does.
func GammaSign(x float64) int {
	_, sign := math.Lgamma(x)
	return sign
}

// Digamma returns the derivative of log Γ(x).
func Digamma(x float64) float64 { return mathext.Digamma(x) }

// Trigamma returns the second derivative of log Γ(x) for x > 0.
func Trigamma(x float64) float64 { return mathext.Zeta(2, x) }
