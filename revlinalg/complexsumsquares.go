package revlinalg

import (
	"revnum/internal/number"
	"revnum/rev"
)

// ComplexSumSquares is the kernel
//
//	Out += Σ |x_i|²
//
// of complex numbers: SumSquares of their real and imaginary parts, with the
// derivatives
//
//	x̄ += 2·Ōut·x,  Ȯut += 2·Σ Re conj(x_i)·ẋ_i,  ġx += 2·ġOut·x + 2·Ōut·ẋ.
//
// The sum is within 2n·ε times itself.
type ComplexSumSquares struct {
	Out *float64               `rev:"acc"`
	X   rev.Vector[complex128] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns no error.
func (k ComplexSumSquares) Run(p rev.Pass[ComplexSumSquares]) error {
	n := k.norm()
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), n.squares())
	}
	if p.Adjoint || p.Tangent {
		g, t, gt := p.G.norm(), p.T.norm(), p.GT.norm()
		n.addSquaresDerivatives(p.Sign(), &g, &t, &gt)
	}
	return nil
}

func (k ComplexSumSquares) norm() norm[float64] { return complexNorm(k.Out, asColumn(k.X)) }
