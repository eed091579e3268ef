package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Sin is the kernel
//
//	y_i += sin(x_i)
//
// with the derivatives
//
//	x̄ += cos(x)·ȳ,  ẏ += cos(x)·ẋ,  ġx += cos(x)·ġy - sin(x)·ẋ·ȳ.
//
// In float64 the sine is within 1.5 units in the last place, also near multiples of π
// and for large x. It is NaN for infinities. In float32 it is within 1.6 units, and
// in fixed point within 0.51 units for all x.
type Sin[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

var sinFunction = elementwise.Function{
	Name:    "sin",
	Float64: sinLoops[float64](),
	Float32: sinLoops[float32](),

	Q43: elementwise.Pointwise[fixed.Q43]{
		Value: fixed.Sin,
		Slope: fixed.SinAdjoint,
		Curve: func(x, v, w fixed.Q43) fixed.Q43 { return -fixed.Sin(x).Mul(v).Mul(w) },
	},
	Fixed: elementwise.FixedLoops{
		Add:      func(y []fixed.Q43, sign int, x []fixed.Q43) { fixedpoint.Sin.Add(sign, x, y) },
		AddSlope: func(to []fixed.Q43, sign int, x, v []fixed.Q43) { fixedpoint.Cos.AddProducts(sign, x, v, to) },
	},
}

func sinLoops[T rev.Float]() elementwise.Loops[T] {
	return elementwise.Loops[T]{
		Values: vec.Sin[T], Slopes: vec.Cos[T], Add: vec.AddSin[T], AddSlope: vec.AddCosProduct[T],
		Curves: elementwise.Curve(func(y, _ T) T { return -y }),
	}
}

// sinRun is Run of Sin. It returns no error.
func sinRun[T rev.Real](k *Sin[T], p *rev.Pass[Sin[T]]) error {
	return elementwise.Run(&sinFunction, k, p)
}
