package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
)

// Mean is the kernel
//
//	Out += m,  m = Σ x_i/n
//
// with the derivatives, where ġ is the tangent of Ōut,
//
//	x̄_i += Ōut/n,  Ȯut += Σ ẋ_i/n,  ẋ̄_i += ġ/n.
//
// The mean is that of gonum's stat.Mean without weights, within n·ε·Σ|x_i|/n in
// floating point; in fixed point the sum, which wraps at 2²⁰, is exact and the
// quotient rounded once. The mean of no elements is NaN, and nothing is added in
// fixed point.
type Mean[T rev.Real] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in"`
}

// NewMean returns the kernel over a gonum vector, sharing its storage.
func NewMean(out *float64, x *mat.VecDense) Mean[float64] {
	return Mean[float64]{Out: out, X: rev.ViewVec(x)}
}

// mean returns Σ x_i/n.
func mean[T rev.Real](x rev.Vector[T]) T { return over(sum(x), x.N) }

// over returns x/n. If n is not positive it returns x/0, in fixed point 0.
func over[T rev.Real](x T, n int) T {
	if !isFixed[T]() {
		return x / T(max(n, 0))
	}
	if n <= 0 {
		return 0
	}
	// Rounded to nearest, ties away from zero.
	q, r := fixed.Q43(x)/fixed.Q43(n), (fixed.Q43(x) % fixed.Q43(n)).Abs()
	if r >= fixed.Q43(n)-r {
		if x < 0 {
			q--
		} else {
			q++
		}
	}
	return T(q)
}

// Forward computes Out += m.
func (k Mean[T]) Forward() {
	rev.Check(&k)
	if k.Out != nil {
		*k.Out += mean(k.X)
	}
}

// Inverse computes Out -= m.
func (k Mean[T]) Inverse() {
	rev.Check(&k)
	if k.Out != nil {
		*k.Out -= mean(k.X)
	}
}

// Adjoint computes Out -= m and x̄_i += Ōut/n.
func (k Mean[T]) Adjoint(g Mean[T]) {
	rev.CheckLike(&k, &g)
	k.Inverse()
	g.addGradient()
}

// addGradient adds its share of the cotangent of the mean to that of each
// element.
func (k *Mean[T]) addGradient() {
	if k.Out == nil || k.X.Data == nil {
		return
	}
	share := over(*k.Out, k.X.N)
	for i := range k.X.N {
		k.X.Data[i*k.X.Inc] += share
	}
}

// Tangent computes Out += m and Ȯut += Σ ẋ_i/n.
func (k Mean[T]) Tangent(t Mean[T]) {
	rev.CheckLike(&k, &t)
	k.Forward()
	if t.Out != nil && t.X.Data != nil {
		*t.Out += mean(t.X)
	}
}

// AdjointTangent computes what Adjoint does, Ȯut -= Σ ẋ_i/n, and the tangent of
// the gradient in gt.
func (k Mean[T]) AdjointTangent(g, t, gt Mean[T]) {
	rev.CheckLike(&k, &g, &t, &gt)
	k.Inverse()
	if t.Out != nil && t.X.Data != nil {
		*t.Out -= mean(t.X)
	}
	g.addGradient()
	gt.addGradient()
}
