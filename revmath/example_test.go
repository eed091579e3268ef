package revmath_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"revnum/revmath"
)

// J₂ with its gradient. Adjoint takes the value away again.
func ExampleBessel() {
	y, x := mat.NewVecDense(3, nil), mat.NewVecDense(3, []float64{0.5, 1, 2})
	k := revmath.NewBessel(y, x, 2)
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("J₂  %.6f\n", y.RawVector().Data)

	gy, gx := mat.NewVecDense(3, []float64{1, 1, 1}), mat.NewVecDense(3, nil)
	if err := k.Adjoint(revmath.NewBessel(gy, gx, 2)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("J₂′ %.6f\n", gx.RawVector().Data)
	// Output:
	// J₂  [0.030604 0.114903 0.352834]
	// J₂′ [0.119852 0.210244 0.223891]
}
