package vec_test

import (
	"fmt"
	"math"

	"revnum/internal/simd/vec"
)

// The logarithm of a sum of exponentials, shifted by the maximum so that it
// does not overflow, and its gradient, the softmax.
func Example() {
	x := []float64{1000, 1001, 1002}
	softmax := make([]float64, len(x))

	m := vec.Max(x)
	sum := vec.ExpShiftSum(softmax, x, m)
	vec.ScaleTo(softmax, 1/sum, softmax)

	fmt.Printf("%.6f\n", m+math.Log(sum))
	fmt.Printf("%.6f\n", softmax)
	// Output:
	// 1002.407606
	// [0.090031 0.244728 0.665241]
}
