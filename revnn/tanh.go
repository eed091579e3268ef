package revnn

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/elementwise"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Tanh is the kernel
//
//	y_i += tanh(x_i)
//
// With ġy the tangent of ȳ and z = tanh(x), the derivatives are
//
//	x̄ += (1 - z²)·ȳ,  ẏ += (1 - z²)·ẋ,  ġx += (1 - z²)·ġy - 2z·(1 - z²)·ẋ·ȳ.
//
// In float64 the value is within 2 units in the last place, even near 0. 1 - z² is within 5,
// even for large x. In float32 and fixed point both are within 0.51 units.
type Tanh[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

// NewTanh returns the kernel over gonum vectors, sharing their storage.
func NewTanh(y, x *mat.VecDense) Tanh[float64] {
	return Tanh[float64]{Y: rev.ViewVec(y), X: rev.ViewVec(x)}
}

var tanhFunction = elementwise.Function{
	Name:    "tanh",
	Both:    vec.Tanh,
	Curves:  elementwise.EachSlope(func(y, d float64) float64 { return -2 * y * d }),
	ByFloat: true,
}

// Forward computes Y += tanh(x).
func (k Tanh[T]) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse computes Y -= tanh(x).
func (k Tanh[T]) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint computes Y -= tanh(x) and x̄ += (1 - tanh²(x))·ȳ.
func (k Tanh[T]) Adjoint(g Tanh[T]) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes Y += tanh(x) and ẏ += (1 - tanh²(x))·ẋ.
func (k Tanh[T]) Tangent(t Tanh[T]) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes back the tangent of Y, and adds
// the tangent of the gradient in gt.
func (k Tanh[T]) AdjointTangent(g, t, gt Tanh[T]) { _ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt)) }

// Run implements rev.Kernel. It returns no error.
func (k Tanh[T]) Run(p rev.Pass[Tanh[T]]) error {
	return elementwise.Run(&tanhFunction, k, p)
}
