package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
)

// Variance is the kernel
//
//	Out += v,  v = Σ (x_i - m)²/(n-1),  m = Σ x_i/n
//
// with the derivatives, where u = Σ ẋ_i/n and ġ is the tangent of Ōut,
//
//	x̄_i += 2·Ōut·(x_i - m)/(n-1),  Ȯut += 2·Σ (x_i - m)·ẋ_i/(n-1),
//	ẋ̄_i += 2·(ġ·(x_i - m) + Ōut·(ẋ_i - u))/(n-1).
//
// The variance is that of a sample, as gonum's stat.Variance without weights. It
// is found in two passes, the second of which corrects the rounding of the mean,
// and so is within a few n·ε times itself and (ε·m)². In fixed point the sum
// of squares must be below 2²⁰; a square is rounded by itself. The variance of
// fewer than two elements is NaN, and nothing is added in fixed point.
type Variance[T rev.Real] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in"`
}

// NewVariance returns the kernel over a gonum vector, sharing its storage.
func NewVariance(out *float64, x *mat.VecDense) Variance[float64] {
	return Variance[float64]{Out: out, X: rev.ViewVec(x)}
}

// value returns v.
func (k *Variance[T]) value() T { return covarianceOf(k.X, k.X) }

// covarianceOf returns Σ (x_i - m)·(y_i - l)/(n-1) for the means m of x and l of
// y. With the rounded means, it is Σ (x_i - m)·(y_i - l) - Σ (x_i - m)·Σ (y_i - l)/n
// that is divided.
func covarianceOf[T rev.Real](x, y rev.Vector[T]) T {
	m, l := mean(x), mean(y)
	var s, a, b T
	for i := range x.N {
		d, e := x.Data[i*x.Inc]-m, y.Data[i*y.Inc]-l
		s += fixed.Product(d, e)
		a += d
		b += e
	}
	return over(s-fixed.Product(a, over(b, x.N)), x.N-1)
}

// addCentered adds r·(x_i - m)·2/(n-1) to y_i, for the mean m of x.
func addCentered[T rev.Real](y rev.Vector[T], r T, x rev.Vector[T]) {
	m := mean(x)
	for i := range x.N {
		y.Data[i*y.Inc] += over(2*fixed.Product(r, x.Data[i*x.Inc]-m), x.N-1)
	}
}

// Forward computes Out += v.
func (k Variance[T]) Forward() {
	rev.Check(&k)
	if k.Out != nil {
		*k.Out += k.value()
	}
}

// Inverse computes Out -= v.
func (k Variance[T]) Inverse() {
	rev.Check(&k)
	if k.Out != nil {
		*k.Out -= k.value()
	}
}

// Adjoint computes Out -= v and x̄_i += 2·Ōut·(x_i - m)/(n-1).
func (k Variance[T]) Adjoint(g Variance[T]) {
	rev.CheckLike(&k, &g)
	k.Inverse()
	if g.Out != nil && g.X.Data != nil {
		addCentered(g.X, *g.Out, k.X)
	}
}

// Tangent computes Out += v and Ȯut += 2·Σ (x_i - m)·ẋ_i/(n-1).
func (k Variance[T]) Tangent(t Variance[T]) {
	rev.CheckLike(&k, &t)
	k.Forward()
	if t.Out != nil && t.X.Data != nil {
		*t.Out += 2 * covarianceOf(k.X, t.X)
	}
}

// AdjointTangent computes what Adjoint does, Ȯut -= 2·Σ (x_i - m)·ẋ_i/(n-1), and
// the tangent of the gradient in gt.
func (k Variance[T]) AdjointTangent(g, t, gt Variance[T]) {
	rev.CheckLike(&k, &g, &t, &gt)
	k.Adjoint(g)
	if t.Out != nil && t.X.Data != nil {
		*t.Out -= 2 * covarianceOf(k.X, t.X)
	}
	if gt.X.Data == nil {
		return
	}
	if gt.Out != nil {
		addCentered(gt.X, *gt.Out, k.X)
	}
	if g.Out != nil && t.X.Data != nil {
		addCentered(gt.X, *g.Out, t.X)
	}
}
