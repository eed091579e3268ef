package revtropical_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"revnum/revtropical"
)

// The shortest ways of two steps. The gradient says which steps they take. From the
// second place two ways are equally short, and the first wins.
func ExampleMatMul() {
	a := mat.NewDense(2, 3, []float64{
		1, 4, 9,
		2, 2, 1,
	})
	b := mat.NewDense(3, 1, []float64{5, 1, 2})
	c := mat.NewDense(2, 1, nil)
	k := revtropical.NewMatMul(c, a, b)
	k.Min = true
	k.Forward()
	fmt.Println(c.RawMatrix().Data)

	over := make([]int32, 2) // the middle of each way
	k.Winners(over)
	fmt.Println(over)

	gc, ga := mat.NewDense(2, 1, []float64{1, 1}), mat.NewDense(2, 3, nil)
	k.Adjoint(revtropical.NewMatMul(gc, ga, nil))
	fmt.Println(mat.Formatted(ga))
	// Output:
	// [5 3]
	// [1 1]
	// ⎡0  1  0⎤
	// ⎣0  1  0⎦
}
