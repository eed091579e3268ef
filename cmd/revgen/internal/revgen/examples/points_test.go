package examples_test

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"revnum/cmd/revgen/internal/revgen/examples"
)

// The beginning of docs/revgen.md: gonum minimises a function by its written derivatives.
func ExamplePoints() {
	d := &examples.Points{}
	for i := range 40 {
		t := float64(i) / 8
		d.T = append(d.T, t)
		d.Y = append(d.Y, 2*math.Exp(-0.3*t)*math.Cos(3*t)+1)
	}
	d.Y[7] = 30 // a bad measurement

	problem := optimize.Problem{
		Func: d.Distance,
		Grad: func(grad, p []float64) { d.DistanceGradient(grad, p) },
		Hess: d.DistanceHessian,
	}
	result, err := optimize.Minimize(problem, []float64{1, 0.5, 2.7, 0}, nil, &optimize.Newton{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("p = %.2f\n", result.X)
	// Output: p = [1.92 0.29 3.00 1.02]
}

// An empty receiver of a Hessian gets its size. Any other must have it.
func TestHessianReceiver(t *testing.T) {
	d := &examples.Points{T: []float64{0, 1, 2}, Y: []float64{3, 1, 2}}
	p := []float64{1, 0.5, 2.7, 0}
	var empty mat.SymDense
	d.DistanceHessian(&empty, p)
	want := mat.NewSymDense(4, nil)
	d.DistanceHessian(want, p)
	if !mat.Equal(&empty, want) {
		t.Errorf("an empty receiver becomes %v, want %v", mat.Formatted(&empty), mat.Formatted(want))
	}
	defer func() {
		if got := recover(); got != mat.ErrShape {
			t.Errorf("a receiver of another size panics with %v, want %v", got, mat.ErrShape)
		}
	}()
	d.DistanceHessian(mat.NewSymDense(3, nil), p)
}
