package ba_test

import (
	"context"
	"fmt"

	"revnum/revmodels/ba"
)

// Adjust cameras and points of which one observation in fifty is wrong.
func ExampleSolve() {
	p, _, err := ba.Generate(&ba.GenerateOptions{
		Cameras: 10, Points: 200, Observations: 1000, Noise: 0.5, Outliers: 0.02, Start: 0.005,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := ba.Solve(context.Background(), p, &ba.Options{Loss: ba.Cauchy(1)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Status, "by", r.Method)
	fmt.Println("cost has fallen to a third:", r.Final < r.Initial/3)
	// Output:
	// cost converged by Cholesky
	// cost has fallen to a third: true
}
