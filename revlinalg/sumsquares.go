package revlinalg

import (
	"unsafe"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/vector"
	"revnum/rev"
)

// SumSquares is the kernel
//
//	Out += Σ x_i²
//
// with the derivatives
//
//	x̄ += 2·Ōut·x,  Ȯut += 2·Σ x_i·ẋ_i,  ġx += 2·ġOut·x + 2·Ōut·ẋ.
//
// In floating point the sum is within n·ε times itself. In fixed point it is exact,
// rounded once to nearest, and meaningful below 2²⁰, that is for norms below 2¹⁰. An
// element of the gradient is rounded once too, and meaningful for cotangents below 2¹⁹.
type SumSquares[T rev.Real] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in" shape:"n"`
}

// sumSquaresRun is Run of SumSquares. It returns no error.
func sumSquaresRun[T rev.Real](k *SumSquares[T], p *rev.Pass[SumSquares[T]]) error {
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), vector.SumSquares(k.X))
	}
	if p.Adjoint || p.Tangent {
		n, g, t, gt := sumSquaresNorm(*k), sumSquaresNorm(p.G), sumSquaresNorm(p.T), sumSquaresNorm(p.GT)
		n.addSquaresDerivatives(p.Sign(), &g, &t, &gt)
	}
	return nil
}

// sumSquaresRunChecked is RunChecked of SumSquares. It finds Out.
func sumSquaresRunChecked[T rev.Real](k *SumSquares[T], back bool) error {
	if !number.IsFixed[T]() {
		return sumSquaresRun(k, &rev.Pass[SumSquares[T]]{Back: back})
	}
	sign := signOf(back)
	if q := (*SumSquares[fixed.Q43])(unsafe.Pointer(k)); k.Out != nil && !vector.AddChecked(q.Out, sign, vector.ExactSquares(&q.X)) {
		return rev.Overflow[SumSquares[T]]("Out")
	}
	return nil
}

func sumSquaresNorm[T rev.Real](k SumSquares[T]) norm[T] { return normOf(k.Out, k.X) }

// addSquaresDerivatives adds the derivatives of the sum of squares.
func (k *norm[T]) addSquaresDerivatives(sign int, g, t, gt *norm[T]) {
	if t.out != nil && t.x.Data != nil {
		*t.out += number.Signed(sign, T(2*k.dot(t)))
	}
	if g.out != nil {
		g.addScaled(2**g.out, k)
		gt.addScaled(2**g.out, t)
	}
	if gt.out != nil {
		gt.addScaled(2**gt.out, k)
	}
}
