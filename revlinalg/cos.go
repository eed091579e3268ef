package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Cos is the kernel
//
//	y_i += cos(x_i)
//
// with the derivatives
//
//	x̄ -= sin(x)·ȳ,  ẏ -= sin(x)·ẋ,  ġx -= sin(x)·ġy + cos(x)·ẋ·ȳ.
//
// In float64 the cosine is within 1.5 units in the last place, even near its zeros and
// for large x. It is NaN for infinities. In float32 it is within 0.501 units, and in
// fixed point within 0.51 units for all x.
type Cos[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

var cosFunction = elementwise.Function{
	Name: "cos",
	Both: func(y, d, x []float64) {
		vec.SinCos(d, y, x)
		vec.ScaleTo(d, -1, d)
	},
	Curves: elementwise.EachOf(func(_, y float64) float64 { return -y }),

	Q43: elementwise.Pointwise[fixed.Q43]{
		Value: fixed.Cos,
		Slope: fixed.CosAdjoint,
		Curve: func(x, v, w fixed.Q43) fixed.Q43 { return -fixed.Cos(x).Mul(v).Mul(w) },
	},
}

// Run implements rev.Kernel. It returns no error.
func (k Cos[T]) Run(p rev.Pass[Cos[T]]) error {
	return elementwise.Run(&cosFunction, k, p)
}
