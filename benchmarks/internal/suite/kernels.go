package suite

import (
	"fmt"
	"math"
	"math/rand/v2"

	"revnum/internal/simd"
)

// uniform returns n numbers in [low, high).
func uniform(n int, low, high float64) []float64 {
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]float64, n)
	for i := range x {
		x[i] = low + (high-low)*rnd.Float64()
	}
	return x
}

// expProblem is the exponential of n numbers, against package math.
func expProblem(n int) *Problem {
	return &Problem{
		Family: "exp", Sizes: fmt.Sprintf("n=%d", n), Workers: []int{1},
		New: func() (*Instance, error) {
			x, y := uniform(n, -10, 10), make([]float64, n)
			return &Instance{
				F:      func() { simd.Exp(y, x) },
				Result: func() []float64 { return y },
				Against: func() {
					for i, v := range x {
						y[i] = math.Exp(v)
					}
				},
				AgainstName: "math.Exp",
			}, nil
		},
	}
}
