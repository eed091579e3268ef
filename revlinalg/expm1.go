package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/number"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Expm1 is the kernel
//
//	y_i += exp(x_i) - 1
//
// with the derivatives
//
//	x̄ += eˣ·ȳ,  ẏ += eˣ·ẋ,  ġx += eˣ·(ġy + ẋ·ȳ).
//
// In float64 the value is within 2.2 units in the last place, also near 0, and in float32 within 1.2.
// Derivatives are those of Exp. In fixed point the value is within 0.51 units. Above 2²⁰, that is for
// x > 13.86, it is one less than the largest number.
type Expm1[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

var expm1Function = elementwise.Function{
	Name:    "expm1",
	Float64: expm1Loops[float64](),
	Float32: expm1Loops[float32](),

	Q43: elementwise.Pointwise[fixed.Q43]{
		Value: func(x fixed.Q43) fixed.Q43 { return expSat(x) - fixed.One },
		Slope: expFunction.Q43.Slope,
		Curve: expFunction.Q43.Curve,
	},
	Fixed: elementwise.FixedLoops{
		Add: func(y []fixed.Q43, sign int, x []fixed.Q43) {
			fixedpoint.Exp.Add(sign, x, y)
			for i := range y {
				y[i] -= number.Signed(sign, fixed.One)
			}
		},
		AddSlope: addFixedProducts,
		Reuse: func(y []fixed.Q43) {
			for i := range y {
				y[i] += fixed.One
			}
		},
	},
}

func expm1Loops[T rev.Float]() elementwise.Loops[T] {
	return elementwise.Loops[T]{
		Both: vec.Expm1[T], Add: vec.AddExpm1[T], AddSlope: vec.AddExpProduct[T],
		Curves: func(_, _, _ []T) {}, // f″ = f′
	}
}

// expm1Run is Run of Expm1. It returns no error.
func expm1Run[T rev.Real](k *Expm1[T], p *rev.Pass[Expm1[T]]) error {
	return elementwise.Run(&expm1Function, k, p)
}
