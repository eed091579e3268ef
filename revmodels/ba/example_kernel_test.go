package ba_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/revmodels/ba"
	"revnum/revsparse"
)

// A camera at the origin, with a focal length of 100 pixels, sees two points ten
// units in front of it.
func ExampleSnavely() {
	cameras := mat.NewDense(1, 9, []float64{0, 0, 0, 0, 0, 0, 100, 0, 0})
	points := mat.NewDense(2, 3, []float64{1, 0, -10, 0, 2, -10})
	features := mat.NewDense(2, 2, []float64{9, 0, 0, 21})
	r := mat.NewVecDense(4, nil)

	k := ba.NewSnavely(r, cameras, points, features, []int{0, 0}, []int{0, 1})
	_ = k.Forward() // in floating point there is no error
	fmt.Println("errors", r.RawVector().Data)

	// The gradient of half the sum of their squares is that of R̄ = R.
	cotangent := rev.General[float64]{Rows: 2, Cols: 3, Stride: 3, Data: make([]float64, 6)}
	g := ba.Snavely[float64]{R: rev.ViewSlice([]float64{1, 0, 0, -1}), Points: cotangent}
	_ = k.Adjoint(g)
	fmt.Println("gradient", cotangent.Data)
	fmt.Println("restored", r.RawVector().Data)

	// The Jacobian as a sparse matrix of 4×(9+6).
	var a revsparse.CSR[float64, int32]
	_ = k.Jacobian(k.CSRTo(&a))
	fmt.Println(a.Rows, a.Cols, a.NNZ(), "by the focal length:", a.Data[6])
	// Output:
	// errors [1 0 0 -1]
	// gradient [10 0 1 0 -10 -2]
	// restored [0 0 0 0]
	// 4 15 48 by the focal length: 0.1
}
