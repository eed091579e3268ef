package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Cos is the kernel
//
//	y_i += cos(x_i)
//
// with the derivatives, where ġ is the tangent of ȳ,
//
//	x̄ -= sin(x)·ȳ,  ẏ -= sin(x)·ẋ,  ẋ̄ -= sin(x)·ġ + cos(x)·ẋ·ȳ.
//
// In float64 the cosine is within 1.5 units in the last place, also near its zeros
// and for large x, and NaN for infinities; in float32 it is within 0.501 units. In
// fixed point it is within 0.51 units for all x.
type Cos[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc"`
	X       rev.Vector[T] `rev:"in"`
	Workers int           // 0 means GOMAXPROCS
}

// NewCos returns the kernel over gonum vectors, sharing their storage. It
// panics with mat.ErrShape if they differ in length.
func NewCos(y, x *mat.VecDense) Cos[float64] { return Cos[float64](newElementwise(y, x)) }

var cosFunction = function{
	name: "cos",
	values: func(y, x []float64) {
		var sin [elementwisePiece]float64
		vec.SinCos(sin[:len(x)], y, x)
	},
	slopes: func(d, x, y []float64) {
		vec.SinCos(d, y, x) // y are the same bits
		vec.ScaleTo(d, -1, d)
	},
	curves: eachOf(func(_, y float64) float64 { return -y }),

	value43: fixed.Cos,
	slope43: fixed.CosAdjoint,
	curve43: func(x, v, w fixed.Q43) fixed.Q43 { return -fixed.Cos(x).Mul(v).Mul(w) },
}

// Forward computes Y += cos(x).
func (k Cos[T]) Forward() { total(elementwise[T](k).forward(&cosFunction)) }

// Inverse computes Y -= cos(x).
func (k Cos[T]) Inverse() { total(elementwise[T](k).inverse(&cosFunction)) }

// Adjoint computes Y -= cos(x) and x̄ -= sin(x)·ȳ.
func (k Cos[T]) Adjoint(g Cos[T]) {
	total(elementwise[T](k).adjoint(&cosFunction, elementwise[T](g)))
}

// Tangent computes Y += cos(x) and ẏ -= sin(x)·ẋ.
func (k Cos[T]) Tangent(t Cos[T]) {
	total(elementwise[T](k).tangent(&cosFunction, elementwise[T](t)))
}

// AdjointTangent computes what Adjoint does, takes back the tangent of Y, and
// adds the tangent of the gradient.
func (k Cos[T]) AdjointTangent(g, t, gt Cos[T]) {
	total(elementwise[T](k).adjointTangent(&cosFunction, elementwise[T](g), elementwise[T](t), elementwise[T](gt)))
}
