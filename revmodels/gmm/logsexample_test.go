package gmm_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"revnum/revmodels/gmm"
	"revnum/ulog"
)

// Responsibilities of points far from both components of a mixture, where
// their probabilities are below every float64.
func ExampleLogResponsibilities() {
	r := mat.NewDense(2, 2, nil)
	k := gmm.NewLogResponsibilities(r, mat.NewVecDense(2, nil),
		mat.NewDense(2, 1, []float64{-50, 50}), mat.NewDense(2, 1, nil),
		mat.NewDense(2, 1, []float64{0.01, 80}))
	k.Forward()
	numbers := ulog.MatrixOfLogs(r)
	for i := range 2 {
		fmt.Printf("%.6g %.6g\n", numbers.LogAt(i, 0), numbers.LogAt(i, 1))
	}
	// Output:
	// 0.268941 0.731059
	// 4.40702e-3475 1
}
