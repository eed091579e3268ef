package revlinalg

import (
	"gonum.org/v1/gonum/blas/cblas128"

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

// NewComplexSumSquares returns the kernel over a gonum vector, sharing its storage.
func NewComplexSumSquares(out *float64, x cblas128.Vector) ComplexSumSquares {
	return ComplexSumSquares{Out: out, X: rev.ViewCVec(x)}
}

// Forward computes Out += Σ |x_i|².
func (k ComplexSumSquares) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse computes Out -= Σ |x_i|².
func (k ComplexSumSquares) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint computes Out -= Σ |x_i|² and x̄ += 2·Ōut·x.
func (k ComplexSumSquares) Adjoint(g ComplexSumSquares) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes Out += Σ |x_i|² and the tangent of Out.
func (k ComplexSumSquares) Tangent(t ComplexSumSquares) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes back the tangent of Out, and adds
// the tangent of the gradient in gt.
func (k ComplexSumSquares) AdjointTangent(g, t, gt ComplexSumSquares) {
	_ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
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
