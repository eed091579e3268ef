package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/logs"
	"revnum/internal/number"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Log is the kernel
//
//	y_i += log(x_i)
//
// of real or complex numbers, with the derivatives
//
//	x̄ += ȳ/conj(x),  ẏ += ẋ/x,  ġx += ġy/conj(x) - conj(ẋ/x²)·ȳ.
//
// If an element of X is zero or a negative real number, all passes return a
// *rev.DomainError with its index and change nothing. NaN is passed on.
//
// In float64 the logarithm is within 0.8 units in the last place, and in float32 within
// 0.94, over the whole range. Derivatives that overflow are infinite: 1/x for x below 2⁻¹⁰²⁴ and
// 1/x² for x below 2⁻⁵¹². Times a cotangent of zero they are NaN. In fixed point the logarithm is
// within 0.51 units, and derivatives wrap if they are out of range, as they are for
// small x.
//
// The logarithm of a complex number is log|x| + i·arg(x), with the argument in [-π, π],
// as cmplx.Log has it, and also right if |x| overflows or is subnormal. Its real part
// is within 2ε plus 2ε times itself.
type Log[T rev.Number] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

var logFunction = elementwise.Function{
	Name:    "log",
	Float64: logLoops[float64](),
	Float32: logLoops[float32](),

	Q43: elementwise.Pointwise[fixed.Q43]{
		Value: fixed.Log,
		Slope: fixed.LogAdjoint,
		Curve: func(x, v, w fixed.Q43) fixed.Q43 { return -v.Div(x).Mul(w.Div(x)) },
	},
	Fixed: elementwise.FixedLoops{
		Add:      func(y []fixed.Q43, sign int, x []fixed.Q43) { fixedpoint.Log.Add(sign, x, y) },
		AddSlope: func(to []fixed.Q43, sign int, x, v []fixed.Q43) { fixedpoint.AddQuotients(sign, v, x, to) },
	},

	Complex: elementwise.Pointwise[complex128]{
		Value: logs.ComplexLog,
		Slope: func(x, v complex128) complex128 { return v / x },
		Curve: func(x, v, w complex128) complex128 { return -number.Times(v/x, w) / x },
	},

	Defined:        func(x float64, _ int) bool { return !(x <= 0) },
	DefinedComplex: func(x complex128, _ int) bool { return x != 0 },
}

func logLoops[T rev.Float]() elementwise.Loops[T] {
	return elementwise.Loops[T]{
		Values: vec.Log[T], Slopes: vec.Recip[T], Add: vec.AddLog[T], AddSlope: vec.AddRecipProduct[T],
		Curves: elementwise.Curve(func(_, d T) T { return -d * d }),
	}
}

// logRun is Run of Log. It returns a *rev.DomainError if log(x) is not defined.
func logRun[T rev.Number](k *Log[T], p *rev.Pass[Log[T]]) error {
	return elementwise.Run(&logFunction, k, p)
}
