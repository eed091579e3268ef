package gmm

import (
	"revnum/fixed"
	"revnum/rev"
)

// FixedLogPosterior is LogPosterior over fixed-point numbers: the kernel
//
//	Out += F
//
// of the same F, with the same operands. Inverse and Adjoint restore Out bit for bit, even
// if Out wraps. Sums over points are integers of 128 bits, rounded once. All results
// are therefore the same bits for any number of workers and any order of the points.
// (The constant of the prior, which no operand changes, is computed in float64.)
//
// # Range
//
// Numbers are within ±2²⁰. That is enough for about 2²⁰/(1.5·D) points of unit
// variance, as the log density of each is about -1.4·D. The methods change nothing and
// return an error that wraps fixed.ErrRange if
//
//   - F is not within ±2²⁰,
//   - some exp(q_kj) is not, which is for q_kj >= 13.86, or with a prior
//     Σ_k ‖Q_k‖²_F is not,
//   - some x_i - μ_k is not within ±2²⁰, or its largest element times the
//     largest sum |Q_k| of a row is 2⁴⁰ or more,
//   - a point is some 1000 standard deviations away from every component, so
//     that no β_ik is above -2¹⁹,
//   - γ², M or the prior is not.
//
// A component that is so far from a point takes no part in it if another is near.
// Gradients and tangents wrap if they are not within ±2²⁰. So does Σ_i w_ik·Q_k·(x_i -
// μ_k), an intermediate value of the gradient of the means.
//
// # Error
//
// In units of 2⁻⁴³, with y = Q_k·(x_i - μ_k), the errors are
//
//	β_ik   2 + K/2 + Σ_j |y_j|·(½ + 0.51·|x_ij - μ_kj|)
//	F      the largest of these errors of each point, added up, and N·(1 + K/2)
//	prior  (1 + γ²)·(2 + K·D + Σ_k ‖Q_k‖²_F)
//
// and that of float64 for the constant of the prior. Responsibilities r_ik have an
// absolute error of r_ik times the error of β, plus 1 + K/2. Those below 2⁻⁴⁴ are zero.
// They are multiplied by F̄, by y, and by x - μ or Q, with a rounding each. A point thus
// contributes to an element of the gradient an error of about 3 + K/2 times these
// factors.
//
// A negative or non-finite γ, or a negative M, panics with a *rev.OperandError.
type FixedLogPosterior struct {
	Out     *fixed.Q43             `rev:"acc"`                    // the log posterior F
	Alpha   rev.Vector[fixed.Q43]  `rev:"in" shape:"K"`           // log weights α, not normalised
	Means   rev.General[fixed.Q43] `rev:"in" shape:"K,D"`         // means μ
	Factors rev.General[fixed.Q43] `rev:"in" shape:"K,D*(D+1)/2"` // D log-diagonal entries q, then the strictly lower triangle column by column
	X       rev.General[fixed.Q43] `rev:"in" shape:"N,D"`         // the points x, one a row

	Prior   Prior
	Workers int // goroutines to use; 0 means GOMAXPROCS
}

// The equations are those of LogPosterior, in the order that loses least. A second
// moment Σ_i w·c·cᵀ would be squared in units of the data. Here Q is applied to c
// first, so that all rounded values have the size of y:
//
//	c_ik = x_i - μ_k,  y_ik = Q_k·c_ik,
//	β_ik = α_k - logsumexp(α) + Σ_j q_kj - ½‖y_ik‖² - D/2·log 2π,
//	L_i  = logsumexp_k β_ik,  F = Σ_i L_i ± prior.
//
// With the responsibilities r_ik = exp(β_ik - L_i), the cotangent F̄ of Out,
// w_ik = F̄·r_ik and z_ik = w_ik·y_ik, the gradient is
//
//	ᾱ_k += Σ_i w_ik - N·F̄·softmax(α)_k
//	μ̄_k += Q_kᵀ·Σ_i z_ik
//	Q̄_k  = -lower(Σ_i z_ik·c_ikᵀ)
//	q̄_kj += Σ_i w_ik + Q̄_jj·exp(q_kj)  ± F̄·(M - γ²·exp(2q_kj))
//	l̄_ij += Q̄_ij                       ∓ F̄·γ²·l_ij
//	x̄_i  -= Σ_k Q_kᵀ·z_ik
//
// The tangent carries ċ_ik = ẋ_i - μ̇_k, ẏ_ik = Q̇_k·c_ik + Q_k·ċ_ik and
//
//	β̇_ik = α̇_k - softmax(α)·α̇ + Σ_j q̇_kj - y_ik·ẏ_ik,  L̇_i = Σ_k r_ik·β̇_ik,
//
// and the tangent of the adjoint,
//
//	ẇ_ik = w_ik·(β̇_ik - L̇_i) + ġF·r_ik,  ż_ik = ẇ_ik·y_ik + w_ik·ẏ_ik,
//
// after which each line of the gradient is differentiated by the product rule.

// Run implements rev.Kernel.
func (k FixedLogPosterior) Run(p rev.Pass[FixedLogPosterior]) error {
	k.Prior.check()
	if k.Out == nil && p.G.Out == nil && p.T.Out == nil && p.GT.Out == nil {
		return nil
	}
	f, df, err := k.sweep(p.G, p.T, p.GT)
	if err != nil {
		return err
	}
	if k.Out != nil {
		*k.Out += fixed.Q43(p.Sign()) * f
	}
	if p.T.Out != nil {
		*p.T.Out += fixed.Q43(p.Sign()) * df
	}
	return nil
}

// given reports whether any of the inputs is there.
func (k *FixedLogPosterior) given() bool {
	return k.Alpha.Data != nil || k.Means.Data != nil || k.Factors.Data != nil || k.X.Data != nil
}
