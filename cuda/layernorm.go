package cuda

import "revnum/rev"

// LayerNorm is the kernel of revnn.LayerNorm over real numbers,
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
// A warp has a row, or a block a long one. The gradients by γ and β are sums over parts of the rows.
//
// In float64 u is within c·ε·(ρ·max_j |x_ij| + |u|), if no sum of squares overflows. Over float32 this is
// computed in float64 and rounded, but for the sums of the parts of the gradients by γ and β. In fixed point
// all has the bits of the host. ε is rounded to the number type, and counts as 2⁻³⁸ if it is less in fixed
// point, or as the smallest normal number in floating point. All passes panic if it is negative.
//
// Source: J. L. Ba, J. R. Kiros and G. E. Hinton, Layer normalization, arXiv 1607.06450.
type LayerNorm[T rev.Real] struct {
	Y       General[T] `rev:"acc" shape:"n,c"`
	X       General[T] `rev:"in" shape:"n,c"`
	Gain    Vector[T]  `rev:"in,optional" shape:"c"`
	Bias    Vector[T]  `rev:"in,optional" shape:"c"`
	Epsilon float64    // ε; 0 means 1e-5
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k LayerNorm[T]) Run(p rev.Pass[LayerNorm[T]]) error {
	epsilon := normEpsilon[LayerNorm[T], T](k.Epsilon)
	w := begin(&k, &p)
	k.operands().run(&w, true, epsilon, p.Sign(), p.G.operands(), p.T.operands(), p.GT.operands())
	return w.end()
}

func (k *LayerNorm[T]) operands() rowNorm[T] {
	return rowNorm[T]{y: k.Y, x: k.X, gain: k.Gain, bias: k.Bias}
}
