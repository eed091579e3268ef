package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Sqrt is the kernel
//
//	y_i += √x_i
//
// with the derivatives
//
//	x̄ += ȳ/(2√x),  ẏ += ẋ/(2√x),  ġx += ġy/(2√x) - ẋ·ȳ/(4x√x).
//
// If an element of X is negative, all methods return a *rev.DomainError with its index,
// and change nothing. Methods that need a derivative also do so if an element is zero.
// NaN is passed on. The root is the nearest number. In fixed point, derivatives wrap if
// they are out of range.
type Sqrt[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

var sqrtFunction = elementwise.Function{
	Name:    "sqrt",
	Float64: sqrtLoops[float64](),
	Float32: sqrtLoops[float32](),

	Q43: elementwise.Pointwise[fixed.Q43]{
		Value: fixed.Sqrt,
		Slope: fixed.SqrtAdjoint,
		Curve: func(x, v, w fixed.Q43) fixed.Q43 { return -fixed.SqrtAdjoint(x, v).Mul(w.Div(2 * x)) },
	},
	Fixed: elementwise.FixedLoops{
		Add:      func(y []fixed.Q43, sign int, x []fixed.Q43) { fixedpoint.Sqrt.Add(sign, x, y) },
		AddSlope: func(to []fixed.Q43, sign int, d, v []fixed.Q43) { fixedpoint.AddQuotients(sign, v, d, to) },
		Reuse: func(y []fixed.Q43) {
			for i := range y {
				y[i] *= 2
			}
		},
	},

	Defined: func(x float64, order int) bool { return !(x < 0) && !(x == 0 && order > 0) },
}

func sqrtLoops[T rev.Float]() elementwise.Loops[T] {
	slopes := func(d, x []T) { // 1/(2√x)
		vec.Sqrt(d, x)
		vec.AddTo(d, d, d)
		vec.Recip(d, d)
	}
	curves := func(d, x, _ []T) { // -(1/(2√x))/(2x)
		for i, v := range x {
			d[i] = -0.5 * d[i] / v
		}
	}
	return elementwise.Loops[T]{Values: vec.Sqrt[T], Add: vec.AddSqrt[T], Slopes: slopes, Curves: curves}
}

// sqrtRun is Run of Sqrt. It returns a *rev.DomainError if √x or its derivative is
// not defined.
func sqrtRun[T rev.Real](k *Sqrt[T], p *rev.Pass[Sqrt[T]]) error {
	return elementwise.Run(&sqrtFunction, k, p)
}
