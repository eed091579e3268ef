package revnn

import (
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// BatchNorm is the kernel
//
//	Y_c += γ_c·U_c + β_c,  U_c = ρ_c·(X_c - m_c),  ρ_c = 1/√(v_c + ε),  m_c = ⟨X_c⟩,  v_c = ⟨(X_c - m_c)²⟩
//
// of each channel c, where ⟨·⟩ is the mean over all rows of X, which are the inputs of a batch, and over
// all positions of the channel: batch normalisation as networks are trained with it. Channels are planes
// of a row that follow each other, as in Conv2D. If Channels is the number of columns, each column is one.
// If Gain is nil, γ is 1, and if Bias is nil, β is 0. If Mean and Variance are there, m and v are added
// to them:
//
//	Mean_c += m_c,  Variance_c += v_c.
//
// With M the number of elements of a channel, P(V) = V - ⟨V⟩ - U·⟨U·V⟩ and H = γ·Ȳ, the derivatives are,
// channel by channel,
//
//	X̄ += ρ·P(H) + (m̄ + 2·v̄·(X - m))/M,  γ̄ += Σ Ȳ·U,  β̄ += Σ Ȳ,
//	Ẏ += γ·U̇ + γ̇·U + β̇,  U̇ = ρ·P(Ẋ),  ṁ += ⟨Ẋ⟩,  v̇ += 2·⟨(X - m)·Ẋ⟩
//
// and, of second order, with Ḣ = γ·ĠY + γ̇·Ȳ,
//
//	ĠX += ρ·(P(Ḣ) - U̇·⟨U·H⟩ - U·⟨U̇·H⟩ - ρ·⟨U·Ẋ⟩·P(H)) + (ġm + 2·ġv·(X - m) + 2·v̄·(Ẋ - ⟨Ẋ⟩))/M,
//	ġγ += Σ ĠY·U + Ȳ·U̇,  ġβ += Σ ĠY.
//
// A network that is trained is used with fixed statistics: averages of m and v over batches. (PyTorch
// averages v·M/(M-1).) The layer is then Conv2D with a filter of one element for each channel, of
// Channels groups, whose W_c is γ_c/√(v_c + ε) and whose B_c is β_c - W_c·m_c. You may also multiply these
// into the filters of the layer before, as in the example.
//
// In floating point U is within M·ε·(ρ·max |X_c| + |U|), if no sum of squares overflows. In fixed point
// the sum of squares must be below 2⁴¹, and their mean below 2²⁰. The roundings of it and of ρ give U a
// relative error of about 2⁻⁴³·(ρ² + 1/ρ). ε is rounded to the number type, and counts as 2⁻³⁸ if it is
// less in fixed point, or as the smallest normal number in floating point. Inverse restores Y as Axpy
// does. Workers share the channels. A worker copies a channel, or some small ones, of each operand, but takes the values
// of 128 channels or more of one element row by row.
//
// All passes panic with an error that wraps mat.ErrShape if Channels does not divide the number of columns.
//
// Source: S. Ioffe and C. Szegedy, Batch normalization, arXiv 1502.03167.
type BatchNorm[T rev.Real] struct {
	Y        rev.General[T] `rev:"acc" shape:"n,p"`
	Mean     rev.Vector[T]  `rev:"acc" shape:"Channels"`
	Variance rev.Vector[T]  `rev:"acc" shape:"Channels"`
	X        rev.General[T] `rev:"in" shape:"n,p"`
	Gain     rev.Vector[T]  `rev:"in,optional" shape:"Channels"`
	Bias     rev.Vector[T]  `rev:"in,optional" shape:"Channels"`
	Channels int            // of an input
	Epsilon  float64        // ε; 0 means 1e-5
	Workers  int            // 0 means GOMAXPROCS
}

// NewBatchNorm returns the kernel that adds to y, over gonum's types, sharing their storage. gain and
// bias may be nil. Set Channels in the kernel that it returns. Kernels of derivatives need none.
func NewBatchNorm(y, x *mat.Dense, gain, bias *mat.VecDense) BatchNorm[float64] {
	return BatchNorm[float64]{Y: rev.ViewDense(y), X: rev.ViewDense(x), Gain: rev.ViewVec(gain), Bias: rev.ViewVec(bias)}
}

// batchNormRun is Run of BatchNorm. It returns no error.
func batchNormRun[T rev.Real](k *BatchNorm[T], p *rev.Pass[BatchNorm[T]]) error {
	checkEpsilon[BatchNorm[T]](k.Epsilon)
	checkGroups[BatchNorm[T]]("X", k.X.Cols, k.Channels, "columns in so many channels")
	shape := normShape{centered: true, channels: k.Channels, batch: true}
	runNorm(shape, k.Epsilon, p.Sign(), k.Workers, batchNormOperands(k), batchNormOperands(&p.G), batchNormOperands(&p.T), batchNormOperands(&p.GT))
	return nil
}

func batchNormOperands[T rev.Real](k *BatchNorm[T]) norm[T] {
	return norm[T]{y: k.Y, x: k.X, gain: k.Gain, bias: k.Bias, mean: k.Mean, variance: k.Variance}
}
