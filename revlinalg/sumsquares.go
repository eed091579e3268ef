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
// 2¹⁰. An element of the gradient is rounded once too, and meaningful for
// cotangents below 2¹⁹.
type SumSquares[T rev.Real] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in" shape:"n"`
}

// NewSumSquares returns the kernel over a gonum vector, sharing its storage.
func NewSumSquares(out *float64, x *mat.VecDense) SumSquares[float64] {
	return SumSquares[float64]{Out: out, X: rev.ViewVec(x)}
}

// Forward computes Out += Σ x_i².
func (k SumSquares[T]) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse computes Out -= Σ x_i².
func (k SumSquares[T]) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint computes Out -= Σ x_i² and x̄ += 2·Ōut·x.
func (k SumSquares[T]) Adjoint(g SumSquares[T]) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes Out += Σ x_i² and Ȯut += 2·Σ x_i·ẋ_i.
func (k SumSquares[T]) Tangent(t SumSquares[T]) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, Ȯut -= 2·Σ x_i·ẋ_i, and adds the
// tangent of the gradient in gt.
func (k SumSquares[T]) AdjointTangent(g, t, gt SumSquares[T]) {
	_ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel. It returns no error.
func (k SumSquares[T]) Run(p rev.Pass[SumSquares[T]]) error {
	n := k.norm()
	n.addSquares(p.Sign())
	if p.Adjoint || p.Tangent {
		n.addSquaresDerivatives(p.Sign(), p.G.norm(), p.T.norm(), p.GT.norm())
	}
	return nil
}

func (k SumSquares[T]) norm() norm[T] { return normOf(k.Out, k.X) }

// addSquares adds sign times the sum of squares to out.
func (k *norm[T]) addSquares(sign int) {
	if k.out != nil {
		*k.out += signed(sign, k.squares())
	}
}

// addSquaresDerivatives adds the derivatives of the sum of squares.
func (k *norm[T]) addSquaresDerivatives(sign int, g, t, gt norm[T]) {
	if t.out != nil && t.x.Data != nil {
		var s T
		a, b := flat(*k, t)
		for i := range a.x.Rows {
			s += dot(a.row(i), b.row(i))
		}
		*t.out += signed(sign, T(2*s))
	}
	if g.out != nil {
		g.addScaled(2**g.out, *k)
		gt.addScaled(2**g.out, t)
	}
	if gt.out != nil {
		gt.addScaled(2**gt.out, *k)
	}
}
