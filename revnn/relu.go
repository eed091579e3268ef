package revnn

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/elementwise"
	"revnum/rev"
)

// ReLU is the kernel
//
//	y_i += max(x_i, 0)
//
// The slope s(x) is 1 if x > 0, and 0 otherwise. With ġy the tangent of ȳ, the derivatives
// are
//
//	x̄ += s(x)·ȳ,  ẏ += s(x)·ẋ,  ġx += s(x)·ġy.
//
// At 0 the slope is 0, as in PyTorch. Value and slope are exact.
type ReLU[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

// NewReLU returns the kernel over gonum vectors, sharing their storage.
func NewReLU(y, x *mat.VecDense) ReLU[float64] {
	return ReLU[float64]{Y: rev.ViewVec(y), X: rev.ViewVec(x)}
}

// Forward computes Y += max(x, 0).
func (k ReLU[T]) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse computes Y -= max(x, 0).
func (k ReLU[T]) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint computes Y -= max(x, 0) and x̄ += s(x)·ȳ.
func (k ReLU[T]) Adjoint(g ReLU[T]) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes Y += max(x, 0) and ẏ += s(x)·ẋ.
func (k ReLU[T]) Tangent(t ReLU[T]) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes back the tangent of Y, and adds
// the tangent of the gradient in gt.
func (k ReLU[T]) AdjointTangent(g, t, gt ReLU[T]) { _ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt)) }

// Run implements rev.Kernel. It returns no error.
func (k ReLU[T]) Run(p rev.Pass[ReLU[T]]) error {
	rectify(0, p.Sign(), elementwise.Operands[T](k), elementwise.Operands[T](p.G), elementwise.Operands[T](p.T), elementwise.Operands[T](p.GT))
	return nil
}
