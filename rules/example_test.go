package rules_test

import (
	"fmt"

	"revnum/rules"
)

// This calls the inner product of two vectors by the name of its kernel, and computes
// the gradient.
func Example() {
	r, err := rules.Lookup("revlinalg.Dot[float64]")
	if err != nil {
		fmt.Println(err)
		return
	}
	x, y := []float64{1, 2}, []float64{3, 4}
	out, pullback, err := r.VJP([]rules.Buffer{{}, rules.Slice(x), rules.Slice(y)}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	one := 1.0
	g, err := pullback([]rules.Buffer{rules.Scalar(&one)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Equation, rules.Elements[float64](out[0]), rules.Elements[float64](g[1]), rules.Elements[float64](g[2]))
	// Output: r += Σ conj(x_i)·y_i [11] [3 4] [1 2]
}
