package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// SumSquares is the kernel
//
//	Out += Σ x_i²
//
// with the derivatives, where ġ is the tangent of Ōut,
//
//	x̄ += 2·Ōut·x,  Ȯut += 2·Σ x_i·ẋ_i,  ẋ̄ += 2·ġ·x + 2·Ōut·ẋ.
//
// The sum is within n·ε times itself in floating point. In fixed point it is
// exact, rounded once, to nearest, and meaningful below 2²⁰, for norms below
// 2¹⁰; an element of the gradient is rounded once too, and meaningful for
// cotangents below 2¹⁹.
type SumSquares[T rev.Real] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in"`
}

// NewSumSquares returns the kernel over a gonum vector, sharing its storage.
func NewSumSquares(out *float64, x *mat.VecDense) SumSquares[float64] {
	return SumSquares[float64]{Out: out, X: rev.ViewVec(x)}
}

// Forward computes Out += Σ x_i².
func (k SumSquares[T]) Forward() {
	rev.Check(&k)
	if k.Out != nil {
		*k.Out += sumSquares(k.X)
	}
}

// Inverse computes Out -= Σ x_i².
func (k SumSquares[T]) Inverse() {
	rev.Check(&k)
	if k.Out != nil {
		*k.Out -= sumSquares(k.X)
	}
}

// Adjoint computes Out -= Σ x_i² and x̄ += 2·Ōut·x.
func (k SumSquares[T]) Adjoint(g SumSquares[T]) {
	rev.Check(&k)
	rev.CheckLike(&k, &g)
	if k.Out != nil {
		*k.Out -= sumSquares(k.X)
	}
	if g.Out != nil && g.X.Data != nil {
		axpy(2**g.Out, k.X, g.X)
	}
}

// Tangent computes Out += Σ x_i² and Ȯut += 2·Σ x_i·ẋ_i.
func (k SumSquares[T]) Tangent(t SumSquares[T]) {
	rev.Check(&k)
	rev.CheckLike(&k, &t)
	if k.Out != nil {
		*k.Out += sumSquares(k.X)
	}
	if t.Out != nil && t.X.Data != nil {
		*t.Out += T(2 * dot(k.X, t.X))
	}
}

// AdjointTangent computes what Adjoint does, Ȯut -= 2·Σ x_i·ẋ_i, and the
// tangent of the gradient in gt.
func (k SumSquares[T]) AdjointTangent(g, t, gt SumSquares[T]) {
	rev.Check(&k)
	rev.CheckLike(&k, &g, &t, &gt)
	if t.Out != nil && t.X.Data != nil {
		*t.Out -= T(2 * dot(k.X, t.X))
	}
	if gt.X.Data != nil {
		if gt.Out != nil {
			axpy(2**gt.Out, k.X, gt.X)
		}
		if g.Out != nil && t.X.Data != nil {
			axpy(2**g.Out, t.X, gt.X)
		}
	}
	k.Adjoint(g)
}
