package rev_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/revlinalg"
)

// An empty output gets its size, and so do empty gradients. A gradient that is nil is not
// computed.
func Example_emptyReceiver() {
	var c, gradA mat.Dense
	a, b := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6}), mat.NewDense(3, 2, []float64{1, 0, 0, 1, 1, 1})
	k := revlinalg.NewMatMul(&c, a, b)
	k.Forward()
	fmt.Println(mat.Formatted(&c))

	ones := mat.NewDense(2, 2, []float64{1, 1, 1, 1})
	g := revlinalg.MatMul[float64]{C: rev.ViewDense(ones), A: rev.ViewDense(&gradA), B: rev.ViewDense(nil)}
	k.Adjoint(g)
	fmt.Println(mat.Formatted(&gradA))
	// Output:
	// ⎡ 4   5⎤
	// ⎣10  11⎦
	// ⎡1  1  2⎤
	// ⎣1  1  2⎦
}
