package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// Norm1 is the kernel
//
//	Out += ‖x‖₁ = Σ |x_i|
//
// with the derivatives, where sign(0) = 0, the subgradient of least norm, and ġ
// is the tangent of Ōut,
//
//	x̄ += Ōut·sign(x),  Ȯut += Σ sign(x_i)·ẋ_i,  ẋ̄ += ġ·sign(x).
//
// The sum is within n·ε times itself in floating point. In fixed point it is
// exact, and wraps at 2²⁰.
type Norm1[T rev.Real] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in"`
}

// NewNorm1 returns the kernel over a gonum vector, sharing its storage.
func NewNorm1(out *float64, x *mat.VecDense) Norm1[float64] {
	return Norm1[float64]{Out: out, X: rev.ViewVec(x)}
}

// value returns Σ |x_i|.
func (k *Norm1[T]) value() T {
	var s T
	for i := range k.X.N {
		s += magnitude(k.X.Data[i*k.X.Inc])
	}
	return s
}

// magnitude returns |x|, which is x for the least fixed-point number.
func magnitude[T rev.Real](x T) T {
	if x < 0 {
		return -x
	}
	return x + 0 // not -0
}

// Forward computes Out += Σ |x_i|.
func (k Norm1[T]) Forward() {
	rev.Check(&k)
	if k.Out != nil {
		*k.Out += k.value()
	}
}

// Inverse computes Out -= Σ |x_i|.
func (k Norm1[T]) Inverse() {
	rev.Check(&k)
	if k.Out != nil {
		*k.Out -= k.value()
	}
}

// Adjoint computes Out -= Σ |x_i| and x̄ += Ōut·sign(x).
func (k Norm1[T]) Adjoint(g Norm1[T]) {
	rev.CheckLike(&k, &g)
	k.Inverse()
	k.addGradient(&g)
}

// addGradient adds the cotangent of the norm, with the sign of the element, to
// that of each element.
func (k *Norm1[T]) addGradient(g *Norm1[T]) {
	if g.Out == nil || g.X.Data == nil {
		return
	}
	r := *g.Out
	for i := range k.X.N {
		g.X.Data[i*g.X.Inc] += T(r * sign(k.X.Data[i*k.X.Inc]))
	}
}

// derivative returns Σ sign(x_i)·ẋ_i.
func (k *Norm1[T]) derivative(t *Norm1[T]) T {
	var d T
	for i := range k.X.N {
		d += T(sign(k.X.Data[i*k.X.Inc]) * t.X.Data[i*t.X.Inc])
	}
	return d
}

// Tangent computes Out += Σ |x_i| and Ȯut += Σ sign(x_i)·ẋ_i.
func (k Norm1[T]) Tangent(t Norm1[T]) {
	rev.CheckLike(&k, &t)
	k.Forward()
	if t.Out != nil && t.X.Data != nil {
		*t.Out += k.derivative(&t)
	}
}

// AdjointTangent computes what Adjoint does, Ȯut -= Σ sign(x_i)·ẋ_i, and the
// tangent of the gradient in gt.
func (k Norm1[T]) AdjointTangent(g, t, gt Norm1[T]) {
	rev.CheckLike(&k, &g, &t, &gt)
	k.Inverse()
	if t.Out != nil && t.X.Data != nil {
		*t.Out -= k.derivative(&t)
	}
	k.addGradient(&g)
	k.addGradient(&gt)
}
