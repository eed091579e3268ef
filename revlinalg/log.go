package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Log is the kernel
//
//	y_i += log(x_i)
//
// with the derivatives, where ġ is the tangent of ȳ,
//
//	x̄ += ȳ/x,  ẏ += ẋ/x,  ẋ̄ += ġ/x - ẋ·ȳ/x².
//
// If an element of X is zero or negative, all methods return a *DomainError that
// says which, and change nothing. NaN is passed on.
//
// In floating point the logarithm is within a unit in the last place over the
// whole range, and derivatives are infinite where they overflow, 1/x below 2⁻¹⁰²⁴ and
// 1/x² below 2⁻⁵¹²: times a cotangent of zero they are NaN. In fixed point the
// logarithm is within 0.51 units, and derivatives wrap where they are out of range,
// as they are for small x.
type Log[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc"`
	X       rev.Vector[T] `rev:"in"`
	Workers int           // 0 means GOMAXPROCS
}

// NewLog returns the kernel over gonum vectors, sharing their storage. It
// panics with mat.ErrShape if they differ in length.
func NewLog(y, x *mat.VecDense) Log[float64] { return Log[float64](newElementwise(y, x)) }

var logFunction = function{
	name:   "log",
	values: vec.Log[float64],
	slopes: eachOf(func(x, _ float64) float64 { return 1 / x }),
	curves: eachOf(func(x, _ float64) float64 { return -1 / x / x }),

	value43: fixed.Log,
	slope43: fixed.LogAdjoint,
	curve43: func(x, v, w fixed.Q43) fixed.Q43 { return -v.Div(x).Mul(w.Div(x)) },

	defined: func(x float64, _ int) bool { return !(x <= 0) },
}

// Forward computes Y += log(x), or returns a *DomainError.
func (k Log[T]) Forward() error { return elementwise[T](k).forward(&logFunction) }

// Inverse computes Y -= log(x), or returns a *DomainError.
func (k Log[T]) Inverse() error { return elementwise[T](k).inverse(&logFunction) }

// Adjoint computes Y -= log(x) and x̄ += ȳ/x, or returns a *DomainError.
func (k Log[T]) Adjoint(g Log[T]) error {
	return elementwise[T](k).adjoint(&logFunction, elementwise[T](g))
}

// Tangent computes Y += log(x) and ẏ += ẋ/x, or returns a *DomainError.
func (k Log[T]) Tangent(t Log[T]) error {
	return elementwise[T](k).tangent(&logFunction, elementwise[T](t))
}

// AdjointTangent computes what Adjoint does, takes back the tangent of Y, and
// adds the tangent of the gradient, or returns a *DomainError.
func (k Log[T]) AdjointTangent(g, t, gt Log[T]) error {
	return elementwise[T](k).adjointTangent(&logFunction, elementwise[T](g), elementwise[T](t), elementwise[T](gt))
}
