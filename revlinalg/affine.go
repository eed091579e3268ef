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
// An element of W·X is within n·ε·Σ|w_ij·x_j| in floating point. It is added to Y in
// parts of 256 columns or more, and B behind them, so that Inverse restores Y within a
// unit in the last place of the largest value on the way for each. In fixed point
// it is exact and rounded once, to nearest, and wraps at ±2²⁰ (what wraps on
// the way does no harm); each product that goes into a gradient is rounded by
// itself.
//
// Of a large W, Forward reads each element, and Adjoint also reads and writes each
// of W̄: three times the memory traffic, which is what its time is near to.
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
	k := Affine[float64]{Y: rev.ViewVec(y), W: rev.ViewDense(w), X: rev.ViewVec(x), B: rev.ViewVec(b)}
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

// affinePart is how many elements of W go through a method at a time, in whole rows,
// so that Adjoint reads them from memory once.
const affinePart = 1 << 14

// parts yields the rows of k that go through a method at a time: the first of them
// and their number.
func (k *Affine[T]) parts(yield func(lo, n int) bool) {
	rows := max(1, affinePart/max(1, k.W.Cols))
	for lo := 0; lo < k.W.Rows && yield(lo, min(rows, k.W.Rows-lo)); lo += rows {
	}
}

// part returns rows lo, ..., lo+n-1 of k.
func (k *Affine[T]) part(lo, n int) Affine[T] {
	p := Affine[T]{Y: between(k.Y, lo, n), W: k.W, X: k.X, B: k.B}
	if k.W.Data != nil {
		p.W = block(k.W, lo, 0, n, k.W.Cols)
	}
	if k.B.N != 0 {
		p.B = between(k.B, lo, n)
	}
	return p
}

// addValue computes Y += sign·(W·X + B), if there is a Y.
func (k *Affine[T]) addValue(sign int) {
	if k.Y.Data != nil {
		addProduct(sign, k.W, k.X, k.Y)
		addSigned(sign, k.B, k.Y)
	}
}

// addDerivative computes ẏ += sign·(Ẇ·x + W·ẋ + ḃ), if there is a ẏ.
func (k *Affine[T]) addDerivative(sign int, t *Affine[T]) {
	if t.Y.Data == nil {
		return
	}
	if t.W.Data != nil {
		addProduct(sign, t.W, k.X, t.Y)
	}
	if t.X.Data != nil {
		addProduct(sign, k.W, t.X, t.Y)
	}
	if t.B.Data != nil {
		addSigned(sign, t.B, t.Y)
	}
}

// addGradient adds to g the gradient for the cotangent gy of Y, if there is one.
func (k *Affine[T]) addGradient(g *Affine[T], gy rev.Vector[T]) {
	if gy.Data == nil {
		return
	}
	if g.W.Data != nil {
		addOuter(gy, k.X, g.W)
	}
	if g.X.Data != nil {
		addTransposedProduct(k.W, gy, g.X)
	}
	if g.B.Data != nil && g.B.N != 0 {
		addSigned(1, gy, g.B)
	}
}

// Forward computes Y += W·X + B.
func (k Affine[T]) Forward() {
	k.check()
	k.addValue(1)
}

// Inverse computes Y -= W·X + B.
func (k Affine[T]) Inverse() {
	k.check()
	k.addValue(-1)
}

// Adjoint computes Y -= W·X + B and W̄ += ȳ·xᵀ, x̄ += Wᵀ·ȳ, b̄ += ȳ.
func (k Affine[T]) Adjoint(g Affine[T]) {
	k.check()
	rev.CheckLike(&k, &g)
	for lo, n := range k.parts {
		p, gp := k.part(lo, n), g.part(lo, n)
		p.addValue(-1)
		p.addGradient(&gp, gp.Y)
	}
}

// Tangent computes Y += W·X + B and ẏ += Ẇ·x + W·ẋ + ḃ.
func (k Affine[T]) Tangent(t Affine[T]) {
	k.check()
	rev.CheckLike(&k, &t)
	for lo, n := range k.parts {
		p, tp := k.part(lo, n), t.part(lo, n)
		p.addValue(1)
		p.addDerivative(1, &tp)
	}
}

// AdjointTangent computes what Adjoint does, ẏ -= Ẇ·x + W·ẋ + ḃ, and the
// tangents of the gradient in gt.
func (k Affine[T]) AdjointTangent(g, t, gt Affine[T]) {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	for lo, n := range k.parts {
		p, gp, tp, gtp := k.part(lo, n), g.part(lo, n), t.part(lo, n), gt.part(lo, n)
		p.addValue(-1)
		p.addDerivative(-1, &tp)
		p.addGradient(&gp, gp.Y)
		p.addGradient(&gtp, gtp.Y)
		if gp.Y.Data == nil {
			continue
		}
		if gtp.W.Data != nil && tp.X.Data != nil {
			addOuter(gp.Y, tp.X, gtp.W)
		}
		if gtp.X.Data != nil && tp.W.Data != nil {
			addTransposedProduct(tp.W, gp.Y, gtp.X)
		}
	}
}
