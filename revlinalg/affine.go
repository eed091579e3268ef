package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/fixedpoint"
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

// affinePart is how many elements of W a pass with derivatives handles at a time, in
// whole rows. It then reads W from memory once.
const affinePart = 1 << 14

// affineRun is Run of Affine. It returns no error.
func affineRun[T rev.Real](k *Affine[T], p *rev.Pass[Affine[T]]) error {
	sign, one := p.Sign(), fixed.Of[T](1)
	rows := max(1, affinePart/max(1, k.W.Cols))
	if !p.Adjoint && !p.Tangent || k.W.Rows <= rows {
		affineProducts(k, sign, &p.G, &p.T, &p.GT)
	} else {
		for lo := 0; lo < k.W.Rows; lo += rows {
			n := min(rows, k.W.Rows-lo)
			part, g, t, gt := affineRows(k, lo, n), affineRows(&p.G, lo, n), affineRows(&p.T, lo, n), affineRows(&p.GT, lo, n)
			affineProducts(&part, sign, &g, &t, &gt)
		}
	}
	vector.AddScaled(sign, one, k.B, k.Y)
	if p.Tangent {
		vector.AddScaled(sign, one, p.T.B, p.T.Y)
	}
	if p.Adjoint {
		vector.Axpy(one, p.G.Y, p.G.B)
		vector.Axpy(one, p.GT.Y, p.GT.B)
	}
	return nil
}

// affineRunChecked is RunChecked of Affine. It finds elements of Y.
func affineRunChecked[T rev.Real](k *Affine[T], back bool) error {
	if !number.IsFixed[T]() || k.Y.Data == nil {
		return affineRun(k, &rev.Pass[Affine[T]]{Back: back})
	}
	sign, y, b, x := signOf(back), vector.FixedAs(k.Y), vector.FixedAs(k.B), vector.FixedAs(k.X)
	packed := vector.Packed(&x)
	for i := range y.N {
		s := fixedpoint.ExactDot(number.Fixed(k.W.Row(i)), packed)
		v, ok := s.AddTo(y.Data[i*y.Inc], vector.Element(b, i), sign)
		if !ok {
			done := affineRows(k, 0, i)
			done.B = vector.Between(k.B, 0, i)
			_ = affineRun(&done, &rev.Pass[Affine[T]]{Back: !back})
			return rev.Overflow[Affine[T]]("Y", i)
		}
		y.Data[i*y.Inc] = v
	}
	return nil
}

// affineRows returns rows lo, ..., lo+n-1 of the products.
func affineRows[T rev.Real](k *Affine[T], lo, n int) Affine[T] {
	p := Affine[T]{Y: vector.Between(k.Y, lo, n), W: k.W, X: k.X}
	if k.W.Data != nil {
		p.W = block(k.W, lo, 0, n, k.W.Cols)
	}
	return p
}

// affineAddProduct rounds an element of W·x once in fixed point.
func affineAddProduct[T rev.Real](_ *Affine[T], sign int, y rev.Vector[T], w rev.General[T], x rev.Vector[T]) {
	if floatGemm(sign, view(w, false), view(asColumn(x), false), asColumn(y)) {
		return
	}
	for i := range y.N {
		y.Data[i*y.Inc] += T(T(sign) * vector.Dot(vector.Row(w, i), x))
	}
}

// affineAddLeft does several short rows at a time, as calls for each would take longer than the work.
func affineAddLeft[T rev.Real](_ *Affine[T], gw rev.General[T], gy, x rev.Vector[T]) {
	if x.N < 128 && floatGemm(1, view(asColumn(gy), false), view(asColumn(x), true), gw) {
		return
	}
	for i := range gy.N {
		vector.Axpy(gy.Data[i*gy.Inc], x, vector.Row(gw, i))
	}
}

// affineAddRight rounds each product in fixed point.
func affineAddRight[T rev.Real](_ *Affine[T], gx rev.Vector[T], w rev.General[T], gy rev.Vector[T]) {
	if floatGemm(1, view(w, true), view(asColumn(gy), false), asColumn(gx)) {
		return
	}
	for i := range gy.N {
		vector.Axpy(gy.Data[i*gy.Inc], vector.Row(w, i), gx)
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
