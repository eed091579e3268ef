package revlinalg

import (
	"slices"

	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/number"
	"revnum/internal/simd/fixedpoint"
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
// 2²⁰ or more wraps, and so does a product on the way.
//
// A complex reciprocal is within 5ε times its magnitude, unless |x| is above 10³⁰⁸. r² and r³ are within
// 12ε and 20ε times theirs, unless these are below 10⁻³⁰⁷.
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
	Fixed: elementwise.FixedLoops{
		Add:      func(y []fixed.Q43, sign int, x []fixed.Q43) { fixedpoint.AddReciprocals(sign, x, y) },
		AddSlope: func(to []fixed.Q43, sign int, x, v []fixed.Q43) { fixedpoint.AddQuotientsTwice(-sign, v, x, to) },
	},
	Complex: elementwise.Pointwise[complex128]{
		Value: complexRecip,
		Slope: func(x, v complex128) complex128 { return number.Times(recipSlope(x), v) },
		Curve: func(x, v, w complex128) complex128 {
			r := complexRecip(x)
			return 2 * number.Times(number.Times(number.Times(v, r), number.Times(w, r)), r)
		},
	},
	ComplexLoops: elementwise.ComplexLoops{
		Known: func(x []complex128) int {
			if i := slices.Index(x, 0); i >= 0 {
				return i
			}
			return len(x)
		},
		Add: func(y []complex128, sign float64, x []complex128) {
			for i, v := range x {
				r := complexRecip(v)
				y[i] += complex(float64(sign*real(r)), float64(sign*imag(r)))
			}
		},
		AddSlope: func(to []complex128, sign, turn float64, x, from []complex128) {
			for i, v := range x {
				d := recipSlope(v)
				d = number.Times(complex(real(d), float64(turn*imag(d))), from[i])
				to[i] += complex(float64(sign*real(d)), float64(sign*imag(d)))
			}
		},
	},

	Defined:        func(x float64, _ int) bool { return x != 0 },
	DefinedComplex: func(x complex128, _ int) bool { return x != 0 },
}

// complexRecip returns 1/x.
func complexRecip(x complex128) complex128 {
	re, im := real(x), imag(x)
	square := float64(re*re) + float64(im*im)
	if square > 0x1p-960 && square < 0x1p960 { // nothing over- or underflows that matters
		inv := 1 / square
		return complex(float64(re*inv), float64(-im*inv))
	}
	return 1 / x
}

// recipSlope returns -1/x².
func recipSlope(x complex128) complex128 {
	r := complexRecip(x)
	return -number.Times(r, r)
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

// recipRun is Run of Recip. It returns a *rev.DomainError where x is zero.
func recipRun[T rev.Number](k *Recip[T], p *rev.Pass[Recip[T]]) error {
	return elementwise.Run(&recipFunction, k, p)
}
