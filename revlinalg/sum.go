package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// Sum is the kernel
//
//	Out += Σ x_i
//
// with the derivatives
//
//	x̄_i += Ōut,  Ȯut += Σ ẋ_i,  ẋ̄_i += the tangent of Ōut.
//
// The sum is within n·ε·Σ|x_i| in floating point. In fixed point it is exact,
// and wraps at ±2²⁰ (what wraps on the way does no harm).
type Sum[T rev.Real] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in"`
}

// NewSum returns the kernel over a gonum vector, sharing its storage.
func NewSum(out *float64, x *mat.VecDense) Sum[float64] {
	return Sum[float64]{Out: out, X: rev.ViewVec(x)}
}

// Forward computes Out += Σ x_i.
func (k Sum[T]) Forward() {
	rev.Check(&k)
	if k.Out != nil {
		*k.Out += sum(k.X)
	}
}

// Inverse computes Out -= Σ x_i.
func (k Sum[T]) Inverse() {
	rev.Check(&k)
	if k.Out != nil {
		*k.Out -= sum(k.X)
	}
}

// Adjoint computes Out -= Σ x_i and x̄_i += Ōut.
func (k Sum[T]) Adjoint(g Sum[T]) {
	rev.Check(&k)
	rev.CheckLike(&k, &g)
	if k.Out != nil {
		*k.Out -= sum(k.X)
	}
	g.addGradient()
}

// addGradient adds the cotangent of the sum to that of each element.
func (k *Sum[T]) addGradient() {
	if k.Out == nil || k.X.Data == nil {
		return
	}
	for i := range k.X.N {
		k.X.Data[i*k.X.Inc] += *k.Out
	}
}

// Tangent computes Out += Σ x_i and Ȯut += Σ ẋ_i.
func (k Sum[T]) Tangent(t Sum[T]) {
	rev.Check(&k)
	rev.CheckLike(&k, &t)
	if k.Out != nil {
		*k.Out += sum(k.X)
	}
	if t.Out != nil && t.X.Data != nil {
		*t.Out += sum(t.X)
	}
}

// AdjointTangent computes what Adjoint does, Ȯut -= Σ ẋ_i, and the tangent of
// the gradient in gt.
func (k Sum[T]) AdjointTangent(g, t, gt Sum[T]) {
	rev.Check(&k)
	rev.CheckLike(&k, &g, &t, &gt)
	if k.Out != nil {
		*k.Out -= sum(k.X)
	}
	if t.Out != nil && t.X.Data != nil {
		*t.Out -= sum(t.X)
	}
	g.addGradient()
	gt.addGradient()
}
