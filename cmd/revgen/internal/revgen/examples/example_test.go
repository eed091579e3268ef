package examples_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"revnum/cmd/revgen/internal/revgen/examples"
	"revnum/rev"
)

// The tutorial of docs/revgen.md: a function of its own is minimised by gonum.
func Example() {
	t, y := mat.NewVecDense(40, nil), mat.NewVecDense(40, nil)
	for i := range 40 {
		ti := float64(i) / 8
		t.SetVec(i, ti)
		y.SetVec(i, 2*math.Exp(-0.3*ti)*math.Cos(3*ti)+1)
	}
	y.SetVec(7, 30) // a bad measurement

	problem := optimize.Problem{
		Func: func(x []float64) float64 {
			var loss float64
			examples.NewMisfit(&loss, mat.NewVecDense(4, x), t, y).Forward()
			return loss
		},
		Grad: func(grad, x []float64) {
			clear(grad)
			loss, one := 0.0, 1.0
			k := examples.NewMisfit(&loss, mat.NewVecDense(4, x), t, y)
			g := examples.NewMisfit(&one, mat.NewVecDense(4, grad), nil, nil)
			if err := rev.Gradient(k, g); err != nil {
				panic(err)
			}
		},
	}
	settings := &optimize.Settings{GradientThreshold: 1e-6}
	result, err := optimize.Minimize(problem, []float64{1, 0.5, 2.7, 0}, settings, &optimize.BFGS{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("p = %.2f\n", result.X)

	// The product of the Hessian with the direction (1, 0, 0, 0).
	loss, slope, one, zero := 0.0, 0.0, 1.0, 0.0
	k := examples.NewMisfit(&loss, mat.NewVecDense(4, result.X), t, y)
	grad := examples.NewMisfit(&one, mat.NewVecDense(4, nil), nil, nil)
	direction := examples.NewMisfit(&slope, mat.NewVecDense(4, []float64{1, 0, 0, 0}), nil, nil)
	product := examples.NewMisfit(&zero, mat.NewVecDense(4, nil), nil, nil)
	k.Tangent(direction)
	k.AdjointTangent(grad, direction, product)
	fmt.Printf("H·d = %.1f\n", product.P.Data)
	// Output:
	// p = [1.92 0.29 3.00 1.02]
	// H·d = [6.5 -16.3 -0.6 2.0]
}

// A function calls kernels that may fail. Its kernel returns their errors, and changes nothing
// then.
func ExampleGaussian() {
	a := mat.NewDense(2, 2, []float64{4, 2, 2, 5})
	x := mat.NewDense(2, 1, []float64{2, 3})
	zeros := func() *mat.Dense { return mat.NewDense(2, 2, nil) }
	loss, one := 0.0, 1.0
	k := examples.NewGaussian(&loss, zeros(), mat.NewDense(2, 1, nil), a, x)
	g := examples.NewGaussian(&one, nil, nil, zeros(), mat.NewDense(2, 1, nil))
	if err := rev.Gradient(k, g); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("loss %.4f, gradient %.4f by x and %.4f by the upper triangle of A\n", loss, g.X.Data, g.A.Data)

	a.Set(1, 1, -5)
	fmt.Println(k.Forward())
	fmt.Printf("loss %.4f\n", loss)
	// Output:
	// loss 2.3863, gradient [0.2500 0.5000] by x and [0.1250 -0.2500 0.0000 0.0000] by the upper triangle of A
	// covariance: matrix not positive definite: pivot 1 is -6
	// loss 2.3863
}
