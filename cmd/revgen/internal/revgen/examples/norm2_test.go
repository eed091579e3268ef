package examples

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/rev/revtest"
)

// CONTRIBUTING.md shows this test.
func TestNorm2(t *testing.T) {
	revtest.Kernel(t, revtest.Spec[Norm2[float64]]{
		New: func(rnd *rand.Rand, n int) Norm2[float64] {
			x := make([]float64, n)
			for i := range x {
				x[i] = 0.5 + rnd.Float64()
			}
			return Norm2[float64]{Out: new(float64), X: rev.ViewSlice(x)}
		},
	})
}

// A kernel, and its gradient.
func ExampleNewNorm2() {
	out, one := 0.0, 1.0
	x, gradient := mat.NewVecDense(2, []float64{3, 4}), mat.NewVecDense(2, nil)

	k := NewNorm2(&out, x)
	k.Forward()                                      // out += ‖x‖
	err := rev.Gradient(k, NewNorm2(&one, gradient)) // the same, and the gradient by x
	fmt.Printf("%.2f %.2f %v\n", out, gradient.RawVector().Data, err)
	// Output: 10.00 [0.60 0.80] <nil>
}
