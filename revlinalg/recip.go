package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/number"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Recip is the kernel
//
//	y_i += 1/x_i
//
// of real or complex numbers. With r = 1/x, the derivatives are
//
//	x̄ -= conj(r²)·ȳ,  ẏ -= r²·ẋ,  ġx += conj(2r³·ẋ)·ȳ - conj(r²)·ġy.
//
// If an element of X is zero, all passes return a *rev.DomainError with its index and change
// nothing. NaN is passed on. The reciprocal is rounded once, and its derivatives are within 3ε
// and 5ε times themselves. Those that overflow are infinite, and NaN times a cotangent of zero: r² for
// |x| up to 2⁻⁵¹² (2⁻⁶⁴ in float32), and r³ up to 2⁻³⁴¹ (2⁻⁴³). In fixed point a result of magnitude
// 2²⁰ or more wraps, and so does a product on the way. A complex reciprocal is within 5ε times its
// magnitude, unless |x| is above 10³⁰⁸.
type Recip[T rev.Number] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

var recipFunction = elementwise.Function{
	Name:    "reciprocal",
	Float64: recipLoops[float64](),
	Float32: recipLoops[float32](),

	Q43: elementwise.Pointwise[fixed.Q43]{
		Value: func(x fixed.Q43) fixed.Q43 { return fixed.One.Div(x) },
		Slope: func(x, v fixed.Q43) fixed.Q43 { return -v.Div(x).Div(x) },
		Curve: func(x, v, w fixed.Q43) fixed.Q43 { return 2 * v.Div(x).Mul(w.Div(x)).Div(x) },
	},
	Complex: elementwise.Pointwise[complex128]{
		Value: func(x complex128) complex128 { return 1 / x },
		Slope: func(x, v complex128) complex128 { return -v / x / x },
		Curve: func(x, v, w complex128) complex128 { return 2 * number.Times(v/x, w/x) / x },
	},

	Defined:        func(x float64, _ int) bool { return x != 0 },
	DefinedComplex: func(x complex128, _ int) bool { return x != 0 },
}

func recipLoops[T rev.Float]() elementwise.Loops[T] {
	return elementwise.Loops[T]{
		Known:  vec.Nonzero[T],
		Values: vec.Recip[T],
		Both: func(y, d, x []T) { // d = -y²
			vec.Recip(y, x)
			vec.MulTo(d, y, y)
			vec.ScaleTo(d, -1, d)
		},
		Add: vec.AddRecip[T],
		Curves: func(d, _, y []T) { // 2y³
			vec.MulTo(d, d, y)
			vec.ScaleTo(d, -2, d)
		},
	}
}

// Run implements rev.Kernel. It returns a *rev.DomainError where x is zero.
func (k Recip[T]) Run(p rev.Pass[Recip[T]]) error {
	return elementwise.Run(&recipFunction, k, p)
}
