package revlog

import (
	"revnum/rev"
)

// Sum is the kernel
//
//	Out ⊕= ⊕_i x_i,  that is  Out' = log(e^Out + Σ_i e^x_i),
//
// where the operands are the logs of the numbers. With w_i = e^(x_i-Out'), the share of
// a number in the new value of Out,
//
//	x̄_i += Ōut'·w_i,  Ōut = Ōut'·e^(Out-Out'),
//	Ȯut' = Ȯut·e^(Out-Out') + Σ_i w_i·ẋ_i,
//	ġx_i += w_i·(ġOut' + Ōut'·(ẋ_i - Ȯut')).
//
// The log of the sum itself is within (n + 4 + 3·|its log| + log n)·ε/2 for n terms. It
// is -Inf for no terms.
//
// revnn.LogSumExp computes the same sum and adds its log to the output, which
// multiplies a number by the sum. Inverse then loses nothing. Use it if you do not need
// to add the sum to another number.
type Sum[T rev.Float] struct {
	Out *T            `rev:"inout"`
	X   rev.Vector[T] `rev:"in" shape:"n"`
}

// sumRun is Run of Sum. It returns no error. The inverse of Adjoint is the exception: it
// may return rev.ErrUnsupported.
func sumRun[T rev.Float](k *Sum[T], p *rev.Pass[Sum[T]]) error {
	return sumTerms(*k).run(p.Back, sumTerms(p.G), sumTerms(p.T), sumTerms(p.GT))
}

func sumTerms[T rev.Float](k Sum[T]) reduction[T] { return reduction[T]{Out: k.Out, X: k.X} }
