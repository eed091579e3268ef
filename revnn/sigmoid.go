package revnn

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/elementwise"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Sigmoid is the kernel
//
//	y_i += σ(x_i) = 1/(1 + exp(-x_i))
//
// With ġy the tangent of ȳ and σ′ = σ·(1 - σ), the derivatives are
//
//	x̄ += σ′(x)·ȳ,  ẏ += σ′(x)·ẋ,  ġx += σ′(x)·ġy + σ′(x)·(1 - 2σ(x))·ẋ·ȳ.
//
// Nothing overflows, and 1 - σ(x) has all its digits even for large x. In float64 the value
// is within 2.5 units in the last place, and σ′ within 5. In float32 and fixed point both
// are within 0.51 units.
type Sigmoid[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

// NewSigmoid returns the kernel over gonum vectors, sharing their storage.
func NewSigmoid(y, x *mat.VecDense) Sigmoid[float64] {
	return Sigmoid[float64]{Y: rev.ViewVec(y), X: rev.ViewVec(x)}
}

var sigmoidFunction = elementwise.Function{
	Name:    "sigmoid",
	Both:    vec.Sigmoid,
	Curves:  elementwise.EachSlope(func(y, d float64) float64 { return d * (1 - 2*y) }),
	ByFloat: true,
}

// Forward computes Y += σ(x).
func (k Sigmoid[T]) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse computes Y -= σ(x).
func (k Sigmoid[T]) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint computes Y -= σ(x) and x̄ += σ′(x)·ȳ.
func (k Sigmoid[T]) Adjoint(g Sigmoid[T]) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes Y += σ(x) and ẏ += σ′(x)·ẋ.
func (k Sigmoid[T]) Tangent(t Sigmoid[T]) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes back the tangent of Y, and adds
// the tangent of the gradient in gt.
func (k Sigmoid[T]) AdjointTangent(g, t, gt Sigmoid[T]) {
	_ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel. It returns no error.
func (k Sigmoid[T]) Run(p rev.Pass[Sigmoid[T]]) error {
	return elementwise.Run(&sigmoidFunction, k, p)
}
