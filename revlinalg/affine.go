package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// Affine is the kernel
//
//	Y += W·X + B
//
// of an m×n matrix W and vectors X of n and Y and B of m elements, with the
// derivatives
//
//	W̄ += ȳ·xᵀ,  x̄ += Wᵀ·ȳ,  b̄ += ȳ,  ẏ += Ẇ·x + W·ẋ + ḃ
//
// and, of second order, with ġ the tangent of ȳ,
//
//	ẇ̄ += ġ·xᵀ + ȳ·ẋᵀ,  ẋ̄ += Wᵀ·ġ + Ẇᵀ·ȳ,  ḃ̄ += ġ.
//
// A B without elements stands for zeros. Every method reads W once.
//
// An element of W·X is within n·ε·Σ|w_ij·x_j| in floating point. In fixed point
// it is exact and rounded once, to nearest, and wraps at ±2²⁰ (what wraps on
// the way does no harm); each product that goes into a gradient is rounded by
// itself.
type Affine[T rev.Real] struct {
	Y rev.Vector[T]  `rev:"acc"`
	W rev.General[T] `rev:"in"`
	X rev.Vector[T]  `rev:"in"`
	B rev.Vector[T]  `rev:"in"`
}

// NewAffine returns the kernel over gonum's types, sharing their storage. The
// vector b may be nil. It panics with mat.ErrShape if the operands do not fit
// together.
func NewAffine(y *mat.VecDense, w *mat.Dense, x, b *mat.VecDense) Affine[float64] {
	k := Affine[float64]{Y: rev.ViewVec(y), W: rev.ViewDense(w), X: rev.ViewVec(x)}
	if b != nil {
		k.B = rev.ViewVec(b)
	}
	k.checkShape()
	return k
}

func (k *Affine[T]) checkShape() {
	if k.Y.Data == nil {
		k.Y.N = k.W.Rows // that of its cotangent
	}
	if k.X.N != k.W.Cols ||
		k.Y.N != k.W.Rows ||
		k.B.N != 0 && k.B.N != k.W.Rows {
		panic(mat.ErrShape)
	}
}

func (k *Affine[T]) check() {
	rev.Check(k)
	k.checkShape()
}

// value returns element i of W·X + B.
func (k *Affine[T]) value(i int) T {
	v := dot(row(k.W, i), k.X)
	if k.B.N != 0 {
		v += k.B.Data[i*k.B.Inc]
	}
	return v
}

// Forward computes Y += W·X + B.
func (k Affine[T]) Forward() {
	k.check()
	if k.Y.Data == nil {
		return
	}
	for i := range k.W.Rows {
		k.Y.Data[i*k.Y.Inc] += k.value(i)
	}
}

// Inverse computes Y -= W·X + B.
func (k Affine[T]) Inverse() {
	k.check()
	if k.Y.Data == nil {
		return
	}
	for i := range k.W.Rows {
		k.Y.Data[i*k.Y.Inc] -= k.value(i)
	}
}

// Adjoint computes Y -= W·X + B and W̄ += ȳ·xᵀ, x̄ += Wᵀ·ȳ, b̄ += ȳ.
func (k Affine[T]) Adjoint(g Affine[T]) {
	k.check()
	rev.CheckLike(&k, &g)
	for i := range k.W.Rows {
		if k.Y.Data != nil {
			k.Y.Data[i*k.Y.Inc] -= k.value(i)
		}
		if g.Y.Data != nil {
			k.addGradient(&g, i, g.Y.Data[i*g.Y.Inc])
		}
	}
}

// addGradient adds gy times the gradient of element i of Y to g.
func (k *Affine[T]) addGradient(g *Affine[T], i int, gy T) {
	if g.W.Data != nil {
		axpy(gy, k.X, row(g.W, i))
	}
	if g.X.Data != nil {
		axpy(gy, row(k.W, i), g.X)
	}
	if g.B.Data != nil && g.B.N != 0 {
		g.B.Data[i*g.B.Inc] += gy
	}
}

// derivative returns element i of Ẇ·x + W·ẋ + ḃ.
func (k *Affine[T]) derivative(t *Affine[T], i int) T {
	var d T
	if t.W.Data != nil {
		d += dot(row(t.W, i), k.X)
	}
	if t.X.Data != nil {
		d += dot(row(k.W, i), t.X)
	}
	if t.B.Data != nil && t.B.N != 0 {
		d += t.B.Data[i*t.B.Inc]
	}
	return d
}

// Tangent computes Y += W·X + B and ẏ += Ẇ·x + W·ẋ + ḃ.
func (k Affine[T]) Tangent(t Affine[T]) {
	k.check()
	rev.CheckLike(&k, &t)
	for i := range k.W.Rows {
		if k.Y.Data != nil {
			k.Y.Data[i*k.Y.Inc] += k.value(i)
		}
		if t.Y.Data != nil {
			t.Y.Data[i*t.Y.Inc] += k.derivative(&t, i)
		}
	}
}

// AdjointTangent computes what Adjoint does, ẏ -= Ẇ·x + W·ẋ + ḃ, and the
// tangents of the gradient in gt.
func (k Affine[T]) AdjointTangent(g, t, gt Affine[T]) {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	for i := range k.W.Rows {
		if k.Y.Data != nil {
			k.Y.Data[i*k.Y.Inc] -= k.value(i)
		}
		if t.Y.Data != nil {
			t.Y.Data[i*t.Y.Inc] -= k.derivative(&t, i)
		}
		if gt.Y.Data != nil {
			k.addGradient(&gt, i, gt.Y.Data[i*gt.Y.Inc])
		}
		if g.Y.Data == nil {
			continue
		}
		gy := g.Y.Data[i*g.Y.Inc]
		k.addGradient(&g, i, gy)
		if gt.W.Data != nil && t.X.Data != nil {
			axpy(gy, t.X, row(gt.W, i))
		}
		if gt.X.Data != nil && t.W.Data != nil {
			axpy(gy, row(t.W, i), gt.X)
		}
	}
}
