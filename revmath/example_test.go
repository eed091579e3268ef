package revmath_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
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

// 20! as a logarithmic number, by recursion. It is undone to the bit.
func ExampleRisingFactorial() {
	type state = revmath.Rising[fixed.Q43]
	factorial := revmath.RisingFactorial[fixed.Q43]()
	s := &state{X: [1]fixed.Q43{fixed.One}, N: 20}
	g := new(state)
	log, err := rev.ValueGradient(factorial, func(s *state) *fixed.Q43 { return &s.Log[0] }, s, g)
	fmt.Printf("log 20! = %.10f, by x %.10f, left %v, %v\n", log.Float64(), g.X[0].Float64(), s.Log[0], err)
	// Output:
	// log 20! = 42.3356164608, by x 3.5977396571, left 0, <nil>
}
