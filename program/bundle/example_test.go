package bundle_test

import (
	"fmt"

	"revnum/program/bundle"
	"revnum/revmodels/ba"
)

func ExampleErrorsOf() {
	// A camera sees a point in the centre of its picture, and is used in two
	// observations.
	e := bundle.ErrorsOf(&ba.Problem{
		Cameras: []float64{0, 0, 0, 0, 0, -5, 500, 0, 0},
		Points:  []float64{0, 0, 0},
		Camera:  []int{0, 0}, Point: []int{0, 0},
		Features: []float64{3, 4, 0, 0},
	})
	fmt.Println(e, e.Quantile(0.5))
	fmt.Printf("%.3f\n", e.RMS())
	// Output:
	// [0 5] 0
	// 3.536
}
