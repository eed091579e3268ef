package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Exp is the kernel
//
//	y_i += exp(x_i)
//
// with the derivatives, where ġ is the tangent of ȳ,
//
//	x̄ += eˣ·ȳ,  ẏ += eˣ·ẋ,  ẋ̄ += eˣ·(ġ + ẋ·ȳ).
//
// In floating point the exponential is within a unit in the last place over the
// whole range. In fixed point it is within 0.51 units, and the largest number
// where it is above 2²⁰, that is for x > 13.86.
type Exp[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc"`
	X       rev.Vector[T] `rev:"in"`
	Workers int           // 0 means GOMAXPROCS
}

// NewExp returns the kernel over gonum vectors, sharing their storage. It
// panics with mat.ErrShape if they differ in length.
func NewExp(y, x *mat.VecDense) Exp[float64] { return Exp[float64](newElementwise(y, x)) }

var expFunction = function{
	name:   "exp",
	values: vec.Exp[float64],
	slopes: func(d, _, y []float64) { copy(d, y) },
	curves: func(d, _, y []float64) { copy(d, y) },

	value43: expSat,
	slope43: func(x, v fixed.Q43) fixed.Q43 { return expSat(x).Mul(v) },
	curve43: func(x, v, w fixed.Q43) fixed.Q43 { return expSat(x).Mul(v).Mul(w) },
}

// expSat returns eˣ, the largest number if that is out of range.
func expSat(x fixed.Q43) fixed.Q43 {
	y, err := fixed.ExpChecked(x)
	if err != nil {
		return fixed.Max
	}
	return y
}

// Forward computes Y += exp(x).
func (k Exp[T]) Forward() { total(elementwise[T](k).forward(&expFunction)) }

// Inverse computes Y -= exp(x).
func (k Exp[T]) Inverse() { total(elementwise[T](k).inverse(&expFunction)) }

// Adjoint computes Y -= exp(x) and x̄ += eˣ·ȳ.
func (k Exp[T]) Adjoint(g Exp[T]) {
	total(elementwise[T](k).adjoint(&expFunction, elementwise[T](g)))
}

// Tangent computes Y += exp(x) and ẏ += eˣ·ẋ.
func (k Exp[T]) Tangent(t Exp[T]) {
	total(elementwise[T](k).tangent(&expFunction, elementwise[T](t)))
}

// AdjointTangent computes what Adjoint does, takes back the tangent of Y, and
// adds the tangent of the gradient.
func (k Exp[T]) AdjointTangent(g, t, gt Exp[T]) {
	total(elementwise[T](k).adjointTangent(&expFunction, elementwise[T](g), elementwise[T](t), elementwise[T](gt)))
}
