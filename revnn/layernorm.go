package revnn

import (
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// LayerNorm is the kernel
//
//	y_ij += γ_j·u_ij + β_j,  u_ij = ρ_i·(x_ij - m_i),  ρ_i = 1/√(Σ_j (x_ij - m_i)²/c + ε),
//
// of the rows of a matrix of c columns with the means m_i, a gain γ and a bias β. If Gain is nil, γ
// is 1, and if Bias is nil, β is 0. With ⟨v⟩ the mean of the elements of v, P(v) = v - ⟨v⟩ - u·⟨u·v⟩
// and h = γ·ȳ, the derivatives are, row by row,
//
//	x̄ += ρ·P(h),  γ̄ += Σ_i ȳ_i·u_i,  β̄ += Σ_i ȳ_i,  ẏ += γ·u̇ + γ̇·u + β̇,  u̇ = ρ·P(ẋ)
//
// and, of second order, with ḣ = γ·ġy + γ̇·ȳ,
//
//	ġx += ρ·(P(ḣ) - u̇·⟨u·h⟩ - u·⟨u̇·h⟩ - ρ·⟨u·ẋ⟩·P(h)),  ġγ += Σ_i ġy_i·u_i + ȳ_i·u̇_i,  ġβ += Σ_i ġy_i.
//
// In floating point u is within c·ε·(ρ·max_j |x_ij| + |u|), if no sum of squares overflows. In fixed
// point the sum of squares must be below 2⁴¹, and their mean below 2²⁰. The roundings of it and of ρ
// give u a relative error of about 2⁻⁴³·(ρ² + 1/ρ). ε is rounded to the number type, and counts as 2⁻³⁸
// if it is less in fixed point, or as the smallest normal number in floating point. Inverse restores y
// as Axpy does. Workers share the rows.
//
// Source: J. L. Ba, J. R. Kiros and G. E. Hinton, Layer normalization, arXiv 1607.06450.
type LayerNorm[T rev.Real] struct {
	Y       rev.General[T] `rev:"acc" shape:"n,c"`
	X       rev.General[T] `rev:"in" shape:"n,c"`
	Gain    rev.Vector[T]  `rev:"in,optional" shape:"c"`
	Bias    rev.Vector[T]  `rev:"in,optional" shape:"c"`
	Epsilon float64        // ε; 0 means 1e-5
	Workers int            // 0 means GOMAXPROCS
}

// NewLayerNorm returns the kernel that adds to y, over gonum's types, sharing their storage. gain and
// bias may be nil.
func NewLayerNorm(y, x *mat.Dense, gain, bias *mat.VecDense) LayerNorm[float64] {
	return LayerNorm[float64]{Y: rev.ViewDense(y), X: rev.ViewDense(x), Gain: rev.ViewVec(gain), Bias: rev.ViewVec(bias)}
}

// layerNormRun is Run of LayerNorm. It returns no error.
func layerNormRun[T rev.Real](k *LayerNorm[T], p *rev.Pass[LayerNorm[T]]) error {
	checkEpsilon[LayerNorm[T]](k.Epsilon)
	runNorm(rowShape(true, k.X.Cols), k.Epsilon, p.Sign(), k.Workers, layerNormOperands(k), layerNormOperands(&p.G), layerNormOperands(&p.T), layerNormOperands(&p.GT))
	return nil
}

func layerNormOperands[T rev.Real](k *LayerNorm[T]) norm[T] {
	return norm[T]{y: k.Y, x: k.X, gain: k.Gain, bias: k.Bias}
}
