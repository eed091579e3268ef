package borrowed

import "math/rand" // and math/rand/v2 in another file

//revgen:gradient p hessian
func again(p []float64) float64 {
	i := rand.Intn(1) //nolint:gosec // a number that is always 0
	return p[i] * p[i+1] * p[i]
}
