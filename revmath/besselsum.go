package revmath

import "math"

// besselJ adds J_ν(x_i) to y_i for ν = n + f, where gamma is Γ(1+f).
//
//revgen:kernel besselSeries[T rev.Real]
//revgen:const f gamma
func besselJ(y, x []float64, n int, f, gamma float64) {
	if len(x) != len(y) {
		panic("shape")
	}
	for i := range x {
		y[i] += besselSum(x[i], n, f, gamma)
	}
}

func besselSum(x float64, n int, f, gamma float64) float64 {
	h := x / 2
	term := 1.0
	if f > 0 {
		term = math.Pow(h, f) / gamma
	}
	for k := 1; k <= n; k++ {
		term *= h / (float64(k) + f)
	}
	sum := term
	for k := 1; k < 200 && math.Abs(term) > 1e-18*math.Abs(sum); k++ {
		term *= -h * h / (float64(k) * (float64(k+n) + f))
		sum += term
	}
	return sum
}
