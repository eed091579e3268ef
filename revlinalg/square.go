package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/number"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Square is the kernel
//
//	y_i += x_i²
//
// of real or complex numbers, with the derivatives
//
//	x̄ += 2·conj(x)·ȳ,  ẏ += 2x·ẋ,  ġx += 2·conj(x)·ġy + 2·conj(ẋ)·ȳ.
//
// Each square is rounded once. A complex square is within 2ε times its magnitude. In fixed point
// a square of 2²⁰ or more wraps.
type Square[T rev.Number] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

var squareFunction = elementwise.Function{
	Name:    "square",
	Float64: squareLoops[float64](),
	Float32: squareLoops[float32](),
	Q43:     squareOf[fixed.Q43](),
	Fixed: elementwise.FixedLoops{
		Add: func(y []fixed.Q43, sign int, x []fixed.Q43) { fixedpoint.AddProducts(sign, x, x, y) },
		AddSlope: func(to []fixed.Q43, sign int, x, v []fixed.Q43) {
			var twice [128]fixed.Q43
			for lo := 0; lo < len(x); lo += len(twice) {
				hi := min(lo+len(twice), len(x))
				for i, v := range x[lo:hi] {
					twice[i] = 2 * v
				}
				fixedpoint.AddProducts(sign, twice[:hi-lo], v[lo:hi], to[lo:hi])
			}
		},
	},
	Complex: squareOf[complex128](),
	ComplexLoops: elementwise.ComplexLoops{
		Add: func(y []complex128, sign float64, x []complex128) { vec.ComplexAddProduct(y, sign, 1, x, x) },
		AddSlope: func(to []complex128, sign, turn float64, x, from []complex128) {
			vec.ComplexAddProduct(to, 2*sign, turn, x, from)
		},
	},
}

func squareLoops[T rev.Float]() elementwise.Loops[T] {
	return elementwise.Loops[T]{
		Values: func(y, x []T) { vec.MulTo(y, x, x) },
		Slopes: func(d, x []T) { vec.ScaleTo(d, 2, x) },
		Add:    func(y []T, sign T, x []T) { vec.AddProduct(y, sign, x, x) },
		Curves: func(d, _, _ []T) {
			for i := range d {
				d[i] = 2
			}
		},
	}
}

func squareOf[T rev.Number]() elementwise.Pointwise[T] {
	return elementwise.Pointwise[T]{
		Value: func(x T) T { return number.Mul(x, x) },
		Slope: func(x, v T) T { return number.Mul(x+x, v) },
		Curve: func(_, v, w T) T { return number.Mul(v+v, w) },
	}
}

// squareRun is Run of Square. It returns no error.
func squareRun[T rev.Number](k *Square[T], p *rev.Pass[Square[T]]) error {
	return elementwise.Run(&squareFunction, k, p)
}
