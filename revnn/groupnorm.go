package revnn

import (
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// GroupNorm is the kernel
//
//	Y_ic += γ_c·U_ic + β_c,  U_ic = ρ·(X_ic - m),  ρ = 1/√(⟨(X_i - m)²⟩ + ε),  m = ⟨X_i⟩
//
// of the channels c of each row i of X, where ⟨·⟩ is the mean over all positions of the channels of a
// group. Channels are planes of a row that follow each other, as in Conv2D, and so are those of each of
// the groups. One group is LayerNorm with a gain for each channel, and groups of one channel are also
// called instance normalisation. If Gain is nil, γ is 1, and if Bias is nil, β is 0. With
// P(V) = V - ⟨V⟩ - U·⟨U·V⟩ and H = γ·Ȳ, the derivatives are, row by row and group by group,
//
//	X̄ += ρ·P(H),  γ̄ += Σ Ȳ·U,  β̄ += Σ Ȳ,  Ẏ += γ·U̇ + γ̇·U + β̇,  U̇ = ρ·P(Ẋ)
//
// and, of second order, with Ḣ = γ·ĠY + γ̇·Ȳ,
//
//	ĠX += ρ·(P(Ḣ) - U̇·⟨U·H⟩ - U·⟨U̇·H⟩ - ρ·⟨U·Ẋ⟩·P(H)),  ġγ += Σ ĠY·U + Ȳ·U̇,  ġβ += Σ ĠY
//
// where the sums are over the rows and the positions of a channel.
//
// Of m elements of a group, U is within m·ε·(ρ·max |X| + |U|) in floating point, if no sum of squares
// overflows. In fixed point the sum of squares must be below 2⁴¹, and their mean below 2²⁰. The
// roundings of it and of ρ give U a relative error of about 2⁻⁴³·(ρ² + 1/ρ). ε is rounded to the number
// type, and counts as 2⁻³⁸ if it is less in fixed point, or as the smallest normal number in floating
// point. Inverse restores Y as Axpy does. Workers share the rows and groups.
//
// All passes panic with an error that wraps mat.ErrShape if Channels does not divide the number of columns,
// or Groups not Channels.
//
// Source: Y. Wu and K. He, Group normalization, arXiv 1803.08494.
type GroupNorm[T rev.Real] struct {
	Y        rev.General[T] `rev:"acc" shape:"n,p"`
	X        rev.General[T] `rev:"in" shape:"n,p"`
	Gain     rev.Vector[T]  `rev:"in,optional" shape:"Channels"`
	Bias     rev.Vector[T]  `rev:"in,optional" shape:"Channels"`
	Channels int            // of an input
	Groups   int            // of channels
	Epsilon  float64        // ε; 0 means 1e-5
	Workers  int            // 0 means GOMAXPROCS
}

// NewGroupNorm returns the kernel that adds to y, over gonum's types, sharing their storage. gain and
// bias may be nil. Set Channels and Groups in the kernel that it returns. Kernels of derivatives need none.
func NewGroupNorm(y, x *mat.Dense, gain, bias *mat.VecDense) GroupNorm[float64] {
	return GroupNorm[float64]{Y: rev.ViewDense(y), X: rev.ViewDense(x), Gain: rev.ViewVec(gain), Bias: rev.ViewVec(bias)}
}

// groupNormRun is Run of GroupNorm. It returns no error.
func groupNormRun[T rev.Real](k *GroupNorm[T], p *rev.Pass[GroupNorm[T]]) error {
	checkEpsilon[GroupNorm[T]](k.Epsilon)
	checkGroups[GroupNorm[T]]("X", k.X.Cols, k.Channels, "columns in so many channels")
	checkGroups[GroupNorm[T]]("Gain", k.Channels, k.Groups, "channels in so many groups")
	shape := normShape{centered: true, channels: k.Channels, groups: k.Groups}
	runNorm(shape, k.Epsilon, p.Sign(), k.Workers, groupNormOperands(k), groupNormOperands(&p.G), groupNormOperands(&p.T), groupNormOperands(&p.GT))
	return nil
}

func groupNormOperands[T rev.Real](k *GroupNorm[T]) norm[T] {
	return norm[T]{y: k.Y, x: k.X, gain: k.Gain, bias: k.Bias}
}
