package revlinalg

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
)

// Sqrt is the kernel
//
//	y_i += √x_i
//
// with the derivatives, where ġ is the tangent of ȳ,
//
//	x̄ += ȳ/(2√x),  ẏ += ẋ/(2√x),  ẋ̄ += ġ/(2√x) - ẋ·ȳ/(4x√x).
//
// If an element of X is negative, all methods return a *DomainError that says
// which, and change nothing; those that are asked for a derivative also do if an
// element is zero. NaN is passed on. The root is the nearest number; in fixed
// point, derivatives wrap where they are out of range.
type Sqrt[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc"`
	X       rev.Vector[T] `rev:"in"`
	Workers int           // 0 means GOMAXPROCS
}

// NewSqrt returns the kernel over gonum vectors, sharing their storage. It
// panics with mat.ErrShape if they differ in length.
func NewSqrt(y, x *mat.VecDense) Sqrt[float64] { return Sqrt[float64](newElementwise(y, x)) }

var sqrtFunction = function{
	name:   "sqrt",
	values: each(math.Sqrt),
	slopes: eachOf(func(_, y float64) float64 { return 0.5 / y }),
	curves: eachOf(func(x, y float64) float64 { return -0.25 / y / x }),

	value43: fixed.Sqrt,
	slope43: fixed.SqrtAdjoint,
	curve43: func(x, v, w fixed.Q43) fixed.Q43 { return -fixed.SqrtAdjoint(x, v).Mul(w.Div(2 * x)) },

	defined: func(x float64, order int) bool { return !(x < 0) && !(x == 0 && order > 0) },
}

// Forward computes Y += √x, or returns a *DomainError.
func (k Sqrt[T]) Forward() error { return elementwise[T](k).forward(&sqrtFunction) }

// Inverse computes Y -= √x, or returns a *DomainError.
func (k Sqrt[T]) Inverse() error { return elementwise[T](k).inverse(&sqrtFunction) }

// Adjoint computes Y -= √x and x̄ += ȳ/(2√x), or returns a *DomainError.
func (k Sqrt[T]) Adjoint(g Sqrt[T]) error {
	return elementwise[T](k).adjoint(&sqrtFunction, elementwise[T](g))
}

// Tangent computes Y += √x and ẏ += ẋ/(2√x), or returns a *DomainError.
func (k Sqrt[T]) Tangent(t Sqrt[T]) error {
	return elementwise[T](k).tangent(&sqrtFunction, elementwise[T](t))
}

// AdjointTangent computes what Adjoint does, takes back the tangent of Y, and
// adds the tangent of the gradient, or returns a *DomainError.
func (k Sqrt[T]) AdjointTangent(g, t, gt Sqrt[T]) error {
	return elementwise[T](k).adjointTangent(&sqrtFunction, elementwise[T](g), elementwise[T](t), elementwise[T](gt))
}
