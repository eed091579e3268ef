package generated

import "math"

// Descend moves x down f by its gradient until that is small, or the steps are. It is the descent that
// GradBench's evals particle and saddle share.
func Descend(x []float64, f func(x []float64) float64, gradient func(g, x []float64)) {
	g, next := make([]float64, len(x)), make([]float64, len(x))
	at := f(x)
	gradient(g, x)
	eta, better := 1e-5, 0
	for length(g) > 1e-5 {
		if better == 10 {
			eta *= 2
			better = 0
			continue
		}
		step := 0.0
		for i := range x {
			next[i] = x[i] - eta*g[i]
			d := x[i] - next[i]
			step += d * d
		}
		if math.Sqrt(step) <= 1e-5 {
			return
		}
		if there := f(next); there < at {
			copy(x, next)
			at = there
			gradient(g, x)
			better++
		} else {
			eta /= 2
			better = 0
		}
	}
}

func length(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}
