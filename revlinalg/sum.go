package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/number"
	"revnum/internal/vector"
	"revnum/rev"
)

// Sum is the kernel
//
//	Out += Σ x_i
//
// of real or complex numbers, with the derivatives
//
//	x̄_i += Ōut,  Ȯut += Σ ẋ_i,  ġx_i += ġOut.
//
// In floating point the sum is within n·ε·Σ|x_i|. Over complex numbers this holds for
// the real and the imaginary parts. In fixed point it is exact and wraps at ±2²⁰.
// Intermediate sums may wrap without harm.
type Sum[T rev.Number] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in" shape:"n"`
}

// NewSum returns the kernel over a gonum vector, sharing its storage.
func NewSum(out *float64, x *mat.VecDense) Sum[float64] {
	return Sum[float64]{Out: out, X: rev.ViewVec(x)}
}

// Forward computes Out += Σ x_i.
func (k Sum[T]) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse computes Out -= Σ x_i.
func (k Sum[T]) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint computes Out -= Σ x_i and x̄_i += Ōut.
func (k Sum[T]) Adjoint(g Sum[T]) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes Out += Σ x_i and Ȯut += Σ ẋ_i.
func (k Sum[T]) Tangent(t Sum[T]) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, Ȯut -= Σ ẋ_i, and adds the tangent of
// the gradient in gt.
func (k Sum[T]) AdjointTangent(g, t, gt Sum[T]) { _ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt)) }

// Run implements rev.Kernel. It returns no error.
func (k Sum[T]) Run(p rev.Pass[Sum[T]]) error {
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), vector.Sum(k.X))
	}
	if p.T.Out != nil {
		*p.T.Out += number.Signed(p.Sign(), vector.Sum(p.T.X))
	}
	if p.G.Out != nil {
		vector.AddConstant(*p.G.Out, p.G.X)
	}
	if p.GT.Out != nil {
		vector.AddConstant(*p.GT.Out, p.GT.X)
	}
	return nil
}
