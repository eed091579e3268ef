package cuda

import "revnum/rev"

// RMSNorm is the kernel of revnn.RMSNorm over real numbers,
//
//	y_ij += γ_j·u_ij,  u_ij = ρ_i·x_ij,  ρ_i = 1/√(Σ_j x_ij²/c + ε)
//
// of the rows of a matrix of c columns, with a gain γ. If Gain is nil, γ is 1. With ⟨v⟩ the mean of
// the elements of v, P(v) = v - u·⟨u·v⟩ and h = γ·ȳ, the derivatives are, row by row,
//
//	x̄ += ρ·P(h),  γ̄ += Σ_i ȳ_i·u_i,  ẏ += γ·u̇ + γ̇·u,  u̇ = ρ·P(ẋ)
//
// and, of second order, with ḣ = γ·ġy + γ̇·ȳ,
//
//	ġx += ρ·(P(ḣ) - u̇·⟨u·h⟩ - u·⟨u̇·h⟩ - ρ·⟨u·ẋ⟩·P(h)),  ġγ += Σ_i ġy_i·u_i + ȳ_i·u̇_i.
//
// LayerNorm says how it is computed, and what ε counts as. In float64 y is within (c/2+4)·ε times itself, if
// no sum of squares overflows. In fixed point all has the bits of the host.
//
// Source: B. Zhang and R. Sennrich, Root mean square layer normalization, arXiv 1910.07467.
type RMSNorm[T rev.Real] struct {
	Y       General[T] `rev:"acc" shape:"n,c"`
	X       General[T] `rev:"in" shape:"n,c"`
	Gain    Vector[T]  `rev:"in,optional" shape:"c"`
	Epsilon float64    // ε; 0 means 1e-5
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k RMSNorm[T]) Run(p rev.Pass[RMSNorm[T]]) error {
	epsilon := normEpsilon[RMSNorm[T], T](k.Epsilon)
	w := begin(&k, &p)
	k.operands().run(&w, false, epsilon, p.Sign(), p.G.operands(), p.T.operands(), p.GT.operands())
	return w.end()
}

func (k *RMSNorm[T]) operands() rowNorm[T] { return rowNorm[T]{y: k.Y, x: k.X, gain: k.Gain} }
