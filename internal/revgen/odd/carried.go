package odd

import "math"

// filter carries a state through a loop in place. It reads each element behind its last
// change.
//
//revgen:kernel Filter[T rev.Real]
func filter(out *float64, x, w []float64, a float64) {
	if len(w) != len(x) {
		panic("shape")
	}
	h, c := 0.1, 0.2
	for t := range x {
		b := a * h
		x[t] += b
		if t%2 == 0 {
			x[t] -= w[t] * c
		}
		v := math.Sin(x[t])
		h = math.Tanh(h + v*w[t])
		c = 0.5*c + h*v
	}
	*out += h * c
}

// ahead carries from the first element to the last.
//
//revgen:kernel Ahead[T rev.Real]
func ahead(x []float64) {
	h := 0.1
	for t := 0; t < len(x)-1; t++ {
		h = math.Tanh(h + x[t])
		x[t+1] += h
	}
}

// down carries from the last element to the first.
//
//revgen:kernel Down[T rev.Real]
func down(x []float64) {
	h := 0.1
	for t := len(x) - 2; t >= 0; t-- {
		h = math.Tanh(h - x[t+1])
		x[t] += h
	}
}

// solve solves a triangular system in place, by sums over the elements that are done.
//
//revgen:kernel Solve[T rev.Real]
func solve(x []float64, m [][]float64) {
	if len(m) != len(x) || len(m[0]) != len(x) {
		panic("shape")
	}
	for i := range x {
		s := 0.0
		for j := range i {
			s += m[i][j] * x[j]
		}
		x[i] -= s
	}
}
