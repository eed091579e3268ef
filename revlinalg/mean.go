package revlinalg

import (
	"revnum/internal/number"
	"revnum/internal/vector"
	"revnum/rev"
)

// Mean is the kernel
//
//	Out += m,  m = Σ x_i/n
//
// with the derivatives
//
//	x̄_i += Ōut/n,  Ȯut += Σ ẋ_i/n,  ġx_i += ġOut/n.
//
// The mean is that of gonum's stat.Mean without weights. In floating point it is within
// n·ε·Σ|x_i|/n. In fixed point the sum is exact and wraps at 2²⁰, and the quotient is
// rounded once. The mean of no elements is NaN. In fixed point nothing is added then.
type Mean[T rev.Real] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in" shape:"n"`
}

// meanRun is Run of Mean. It returns no error.
func meanRun[T rev.Real](k *Mean[T], p *rev.Pass[Mean[T]]) error {
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), mean(k.X))
	}
	if p.T.Out != nil && p.T.X.Data != nil {
		*p.T.Out += number.Signed(p.Sign(), mean(p.T.X))
	}
	if p.G.Out != nil {
		vector.AddConstant(number.Over(*p.G.Out, k.X.N), p.G.X)
	}
	if p.GT.Out != nil {
		vector.AddConstant(number.Over(*p.GT.Out, k.X.N), p.GT.X)
	}
	return nil
}

// mean returns Σ x_i/n.
func mean[T rev.Real](x rev.Vector[T]) T { return number.Over(vector.Sum(x), x.N) }
