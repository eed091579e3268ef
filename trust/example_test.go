package trust_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"revnum/revmodels/gmm"
	"revnum/trust"
)

// Fit a mixture of two components by Newton's method, from products with the
// Hessian alone.
func ExampleMinimize() {
	points := mat.NewDense(8, 1, []float64{-2.2, -2, -1.9, -1.7, 2.5, 2.8, 3.1, 3.4})
	m := gmm.NewModel(points, 2, gmm.Prior{Gamma: 1})
	x := []float64{0, 0, -1, 1, 0, 0} // log weights, means, log inverse deviations

	p := trust.Problem{Func: m.Func, Grad: m.Grad, HessVec: m.HessVec}
	r, err := trust.Minimize(context.Background(), p, x, &trust.Options{Tolerance: 1e-8})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ends by", r.Status)
	fmt.Printf("means %.3f and %.3f\n", r.X[2], r.X[3])
	// Output:
	// ends by gradient threshold
	// means -1.950 and 2.950
}
