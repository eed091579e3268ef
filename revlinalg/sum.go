package revlinalg

import (
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
