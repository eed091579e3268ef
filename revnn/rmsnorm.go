package revnn

import (
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// RMSNorm is the kernel
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
// In floating point y is within (c/2+4)·ε times itself, if no sum of squares overflows. In fixed point
// the sum of squares must be below 2⁴¹, and their mean below 2²⁰. The roundings of it and of ρ give u a
// relative error of about 2⁻⁴³·(ρ² + 1/ρ). ε is rounded to the number type, and counts as 2⁻³⁸ if it is
// less in fixed point, or as the smallest normal number in floating point. Inverse restores y as Axpy
// does. Workers share the rows.
//
// Source: B. Zhang and R. Sennrich, Root mean square layer normalization, arXiv 1910.07467.
type RMSNorm[T rev.Real] struct {
	Y       rev.General[T] `rev:"acc" shape:"n,c"`
	X       rev.General[T] `rev:"in" shape:"n,c"`
	Gain    rev.Vector[T]  `rev:"in,optional" shape:"c"`
	Epsilon float64        // ε; 0 means 1e-5
	Workers int            // 0 means GOMAXPROCS
}

// NewRMSNorm returns the kernel that adds to y, over gonum's types, sharing their storage. gain may
// be nil.
func NewRMSNorm(y, x *mat.Dense, gain *mat.VecDense) RMSNorm[float64] {
	return RMSNorm[float64]{Y: rev.ViewDense(y), X: rev.ViewDense(x), Gain: rev.ViewVec(gain)}
}

// rmsNormRun is Run of RMSNorm. It returns no error.
func rmsNormRun[T rev.Real](k *RMSNorm[T], p *rev.Pass[RMSNorm[T]]) error {
	checkEpsilon[RMSNorm[T]](k.Epsilon)
	runNorm(rowShape(false, k.X.Cols), k.Epsilon, p.Sign(), k.Workers, rmsNormOperands(k), rmsNormOperands(&p.G), rmsNormOperands(&p.T), rmsNormOperands(&p.GT))
	return nil
}

func rmsNormOperands[T rev.Real](k *RMSNorm[T]) norm[T] { return norm[T]{y: k.Y, x: k.X, gain: k.Gain} }

// checkEpsilon panics unless the field Epsilon of K is a number that is not negative.
func checkEpsilon[K any](epsilon float64) {
	if !(epsilon >= 0) {
		panic(rev.ShapeError[K]("Epsilon", "is %v, want a number that is not negative", epsilon))
	}
}
