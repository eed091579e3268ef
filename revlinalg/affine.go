package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/simd/dense"
	"revnum/internal/vector"
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
// and, of second order,
//
//	ġW += ġy·xᵀ + ȳ·ẋᵀ,  ġx += Wᵀ·ġy + Ẇᵀ·ȳ,  ġb += ġy.
//
// If B is nil, it counts as zero. Every pass reads W from memory once.
//
// In floating point, an element of W·X is within n·ε·Σ|w_ij·x_j|. It is added to Y in
// parts of 256 or more columns, and then B. Inverse restores Y within one unit in the
// last place, of the largest value on the way, for each part. In fixed point an element
// is exact, rounded once to nearest, and wraps at ±2²⁰. Intermediate sums may wrap
// without harm. Each product that goes into a gradient is rounded by itself.
//
// Adjoint moves three times the memory of Forward: it also reads and writes W̄. If W is
// large, it takes about three times as long.
type Affine[T rev.Real] struct {
	Y rev.Vector[T]  `rev:"acc" shape:"m"`
	W rev.General[T] `rev:"in" shape:"m,n"`
	X rev.Vector[T]  `rev:"in" shape:"n"`
	B rev.Vector[T]  `rev:"in,optional" shape:"m"`
}

// NewAffine returns the kernel over gonum's types, sharing their storage. The
// vector b may be nil.
func NewAffine(y *mat.VecDense, w *mat.Dense, x, b *mat.VecDense) Affine[float64] {
	return Affine[float64]{Y: rev.ViewVec(y), W: rev.ViewDense(w), X: rev.ViewVec(x), B: rev.ViewVec(b)}
}

// affinePart is how many elements of W a pass with derivatives handles at a time, in
// whole rows. It then reads W from memory once.
const affinePart = 1 << 14

// Forward computes Y += W·X + B.
func (k Affine[T]) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse computes Y -= W·X + B.
func (k Affine[T]) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint computes Y -= W·X + B and W̄ += ȳ·xᵀ, x̄ += Wᵀ·ȳ, b̄ += ȳ.
func (k Affine[T]) Adjoint(g Affine[T]) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes Y += W·X + B and ẏ += Ẇ·x + W·ẋ + ḃ.
func (k Affine[T]) Tangent(t Affine[T]) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, ẏ -= Ẇ·x + W·ẋ + ḃ, and adds the
// tangents of the gradient in gt.
func (k Affine[T]) AdjointTangent(g, t, gt Affine[T]) {
	_ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel. It returns no error.
func (k Affine[T]) Run(p rev.Pass[Affine[T]]) error {
	if !p.Adjoint && !p.Tangent {
		k.addValue(p.Sign())
		return nil
	}
	rows := max(1, affinePart/max(1, k.W.Cols))
	if k.W.Rows <= rows {
		k.run(p.Sign(), &p.G, &p.T, &p.GT)
		return nil
	}
	for lo := 0; lo < k.W.Rows; lo += rows {
		n := min(rows, k.W.Rows-lo)
		part, g, t, gt := k.part(lo, n), p.G.part(lo, n), p.T.part(lo, n), p.GT.part(lo, n)
		part.run(p.Sign(), &g, &t, &gt)
	}
	return nil
}

// run makes a pass over some rows.
func (k *Affine[T]) run(sign int, g, t, gt *Affine[T]) {
	k.addValue(sign)
	if t.Y.Data != nil {
		addProduct(sign, t.W, k.X, t.Y)
		addProduct(sign, k.W, t.X, t.Y)
		vector.AddScaled(sign, fixed.Of[T](1), t.B, t.Y)
	}
	k.addGradient(g, g.Y)
	k.addGradient(gt, gt.Y)
	addOuter(g.Y, t.X, gt.W)
	addTransposedProduct(t.W, g.Y, gt.X)
}

// part returns rows lo, ..., lo+n-1 of k.
func (k *Affine[T]) part(lo, n int) Affine[T] {
	p := Affine[T]{Y: vector.Between(k.Y, lo, n), W: k.W, X: k.X, B: vector.Between(k.B, lo, n)}
	if k.W.Data != nil {
		p.W = block(k.W, lo, 0, n, k.W.Cols)
	}
	return p
}

// addValue computes Y += sign·(W·X + B) if Y is there.
func (k *Affine[T]) addValue(sign int) {
	addProduct(sign, k.W, k.X, k.Y)
	vector.AddScaled(sign, fixed.Of[T](1), k.B, k.Y)
}

// addGradient adds to g the gradient for the cotangent gy of Y. It does nothing without
// gy.
func (k *Affine[T]) addGradient(g *Affine[T], gy rev.Vector[T]) {
	addOuter(gy, k.X, g.W)
	addTransposedProduct(k.W, gy, g.X)
	vector.Axpy(fixed.Of[T](1), gy, g.B)
}

// addProduct computes y += sign·A·x, unless one of them is nil. In fixed point an
// element of A·x is rounded once.
func addProduct[T rev.Real](sign int, a rev.General[T], x, y rev.Vector[T]) {
	if a.Data == nil || x.Data == nil || y.Data == nil {
		return
	}
	if floatGemm(sign, view(a, false), view(asColumn(x), false), asColumn(y)) {
		return
	}
	for i := range y.N {
		y.Data[i*y.Inc] += T(sign) * vector.Dot(vector.Row(a, i), x)
	}
}

// addTransposedProduct computes x += Aᵀ·y, unless one of them is nil. In fixed point
// each product is rounded.
func addTransposedProduct[T rev.Real](a rev.General[T], y, x rev.Vector[T]) {
	if a.Data == nil || x.Data == nil || y.Data == nil {
		return
	}
	if floatGemm(1, view(a, true), view(asColumn(y), false), asColumn(x)) {
		return
	}
	for i := range y.N {
		vector.Axpy(y.Data[i*y.Inc], vector.Row(a, i), x)
	}
}

// addOuter computes A += x·yᵀ, unless one of them is nil. Short rows are done several
// at a time, as calls for each would take longer than the work.
func addOuter[T rev.Real](x, y rev.Vector[T], a rev.General[T]) {
	if a.Data == nil || x.Data == nil || y.Data == nil {
		return
	}
	if y.N < 128 && floatGemm(1, view(asColumn(x), false), view(asColumn(y), true), a) {
		return
	}
	for i := range x.N {
		vector.Axpy(x.Data[i*x.Inc], y, vector.Row(a, i))
	}
}

// floatGemm computes C += sign·A·B in floating point, and otherwise reports false.
func floatGemm[T rev.Real](sign int, a, b strided[T], c rev.General[T]) bool {
	switch data := any(c.Data).(type) {
	case []float64:
		dense.Gemm(a.rows, b.cols, a.cols, float64(sign), float64s(a.data, 0), a.rs, a.cs, float64s(b.data, 0), b.rs, b.cs, data, c.Stride)
	case []float32:
		dense.Gemm(a.rows, b.cols, a.cols, float32(sign), float32s(a.data, 0), a.rs, a.cs, float32s(b.data, 0), b.rs, b.cs, data, c.Stride)
	default:
		return false
	}
	return true
}
