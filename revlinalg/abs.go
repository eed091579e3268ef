package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Abs is the kernel
//
//	y_i += |x_i|
//
// with the derivatives, where sign(0) = 0 (the subgradient of least norm),
//
//	x̄ += sign(x)·ȳ,  ẏ += sign(x)·ẋ,  ġx += sign(x)·ġy.
//
// It is exact, except that the least fixed-point number, -2²⁰, is its own magnitude.
type Abs[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

var absFunction = elementwise.Function{
	Name:    "abs",
	Float64: absLoops[float64](),
	Float32: absLoops[float32](),

	Q43: elementwise.Pointwise[fixed.Q43]{
		Value: fixed.Q43.Abs,
		Slope: func(x, v fixed.Q43) fixed.Q43 { return sign(x) * v },
		Curve: func(_, _, _ fixed.Q43) fixed.Q43 { return 0 },
	},
	Fixed: elementwise.FixedLoops{
		Add:      func(y []fixed.Q43, sign int, x []fixed.Q43) { fixedpoint.AddSigned(sign, true, x, x, y) },
		AddSlope: func(to []fixed.Q43, sign int, x, v []fixed.Q43) { fixedpoint.AddSigned(sign, true, x, v, to) },
	},
}

// sign returns 1 or -1, as the integers 1 and -1 in fixed point. It returns x itself if
// x is zero or NaN.
func sign[T rev.Real](x T) T {
	switch {
	case x > 0:
		return 1 // raw: a sign
	case x < 0:
		return -1 // raw: a sign
	}
	return x
}

func absLoops[T rev.Float]() elementwise.Loops[T] {
	return elementwise.Loops[T]{Values: vec.Abs[T], Slopes: vec.Sign[T], Add: vec.AddAbs[T], AddSlope: vec.AddSignProduct[T]}
}

// absRun is Run of Abs. It returns no error.
func absRun[T rev.Real](k *Abs[T], p *rev.Pass[Abs[T]]) error {
	return elementwise.Run(&absFunction, k, p)
}
