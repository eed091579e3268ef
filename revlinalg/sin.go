package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Sin is the kernel
//
//	y_i += sin(x_i)
//
// with the derivatives, where ġ is the tangent of ȳ,
//
//	x̄ += cos(x)·ȳ,  ẏ += cos(x)·ẋ,  ẋ̄ += cos(x)·ġ - sin(x)·ẋ·ȳ.
//
// In float64 the sine is within 1.5 units in the last place, also near multiples of
// π and for large x, and NaN for infinities; in float32 it is within 0.501 units. In
// fixed point it is within 0.51 units for all x.
type Sin[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc"`
	X       rev.Vector[T] `rev:"in"`
	Workers int           // 0 means GOMAXPROCS
}

// NewSin returns the kernel over gonum vectors, sharing their storage. It
// panics with mat.ErrShape if they differ in length.
func NewSin(y, x *mat.VecDense) Sin[float64] { return Sin[float64](newElementwise(y, x)) }

var sinFunction = function{
	name: "sin",
	values: func(y, x []float64) {
		var cos [elementwisePiece]float64
		vec.SinCos(y, cos[:len(x)], x)
	},
	slopes: func(d, x, y []float64) { vec.SinCos(y, d, x) }, // y are the same bits
	curves: eachOf(func(_, y float64) float64 { return -y }),

	value43: fixed.Sin,
	slope43: fixed.SinAdjoint,
	curve43: func(x, v, w fixed.Q43) fixed.Q43 { return -fixed.Sin(x).Mul(v).Mul(w) },
}

// Forward computes Y += sin(x).
func (k Sin[T]) Forward() { total(elementwise[T](k).forward(&sinFunction)) }

// Inverse computes Y -= sin(x).
func (k Sin[T]) Inverse() { total(elementwise[T](k).inverse(&sinFunction)) }

// Adjoint computes Y -= sin(x) and x̄ += cos(x)·ȳ.
func (k Sin[T]) Adjoint(g Sin[T]) {
	total(elementwise[T](k).adjoint(&sinFunction, elementwise[T](g)))
}

// Tangent computes Y += sin(x) and ẏ += cos(x)·ẋ.
func (k Sin[T]) Tangent(t Sin[T]) {
	total(elementwise[T](k).tangent(&sinFunction, elementwise[T](t)))
}

// AdjointTangent computes what Adjoint does, takes back the tangent of Y, and
// adds the tangent of the gradient.
func (k Sin[T]) AdjointTangent(g, t, gt Sin[T]) {
	total(elementwise[T](k).adjointTangent(&sinFunction, elementwise[T](g), elementwise[T](t), elementwise[T](gt)))
}
