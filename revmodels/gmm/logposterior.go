package gmm

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// Sign says which sign the prior enters the log posterior with.
type Sign int

const (
	// GradBench adds the log density of the prior, as Bayes' rule says.
	GradBench Sign = iota
	// ADBench subtracts it, as the published benchmark does by mistake.
	ADBench
)

// Prior is the Wishart prior on the precision matrices, with scale matrix
// I/γ² and ν = D+M+1 degrees of freedom. The zero Prior is no prior at all:
// the log posterior is then the log-likelihood.
type Prior struct {
	Gamma float64 // γ; 0 for no prior
	M     int     // ν-D-1, not negative
	Sign  Sign
}

// LogPosterior is the kernel Out += F of the log posterior F of a Gaussian
// mixture with K components, given N points of dimension D:
//
//	F    = Σ_i logsumexp_k β_ik - N·logsumexp(α) - N·D/2·log 2π ± prior
//	β_ik = α_k + Σ_j q_kj - ½‖Q_k·(x_i - μ_k)‖²
//
// where Q_k is lower triangular, with exp(q_kj) on its diagonal, and the
// precision matrix of component k is Q_kᵀ·Q_k. The prior is the log density of
// the Wishart distribution at these matrices,
//
//	prior = K·(ν·D·log(γ/√2) - log Γ_D(ν/2)) + Σ_k (M·Σ_j q_kj - ½γ²‖Q_k‖²_F).
//
// The rounding error of F is of the order of (D + log N)·ε times the sum of the
// magnitudes of its terms, with ‖|Q_k|·|x_i - μ_k|‖² in the place of
// ‖Q_k·(x_i - μ_k)‖²; relative to F it is more where terms cancel. The sums
// over points are taken in float64, block by block in an order that depends on
// N, D and K alone, so the result has the same bits for every number of
// workers. Gradients are made of sums over the points that are taken in T,
// again block by block: in float32 their error relative to the largest is 1e-7
// at 10⁵ points and 1e-6 at 10⁶. From eight dimensions on, gradients leave out
// responsibilities below 2⁻⁹⁶⁰ (2⁻¹⁰⁰ for float32). Inverse restores Out up to the rounding of one addition and one
// subtraction.
//
// Memory beyond the operands is of the order of K·D² and of one batch of
// points (some MiB), whatever N is.
//
// Shape errors panic with mat.ErrShape, operands that overlap as rev.Check
// says; a negative or non-finite γ, or a negative M, panics with a string. The equations are those of ADBench
// (Šrajer, Kukelova and Fitzgibbon, 2018, arXiv 1807.10129, section 4.1) as
// corrected by GradBench.
type LogPosterior[T rev.Float] struct {
	Out     *T             `rev:"acc"` // the log posterior F
	Alpha   rev.Vector[T]  `rev:"in"`  // K: log weights α, not normalised
	Means   rev.General[T] `rev:"in"`  // K×D: means μ
	Factors rev.General[T] `rev:"in"`  // K×D(D+1)/2: D log-diagonal entries q, then the strictly lower triangle column by column
	X       rev.General[T] `rev:"in"`  // N×D: the points x, one a row

	Prior   Prior
	Workers int // goroutines to use; 0 means GOMAXPROCS
}

// NewLogPosterior returns the kernel over gonum types, sharing their storage.
func NewLogPosterior(out *float64, alpha *mat.VecDense, means, factors, x *mat.Dense, prior Prior) LogPosterior[float64] {
	return LogPosterior[float64]{
		Out: out, Alpha: rev.ViewVec(alpha), Means: rev.ViewDense(means),
		Factors: rev.ViewDense(factors), X: rev.ViewDense(x), Prior: prior,
	}
}

// The gradient needs no quantity of the size N·K·D. With the responsibilities
// r_ik = exp(β_ik - logsumexp_k β_ik), the cotangent F̄ of Out, and
// w_ik = F̄·r_ik, c_ik = x_i - μ_k, all that the parameters of component k need
// of the points is three weighted moments:
//
//	W_k = Σ_i w_ik,  m_k = Σ_i w_ik·c_ik,  M_k = Σ_i w_ik·c_ik·c_ikᵀ.
//
// From dβ_ik = dα_k + Σ_j dq_kj - (Q·c)ᵀ(dQ·c + Q·(dx_i - dμ_k)):
//
//	ᾱ_k += W_k - N·F̄·softmax(α)_k
//	μ̄_k += Q_kᵀ·Q_k·m_k
//	Q̄_k  = -lower(Q_k·M_k)
//	q̄_kj += W_k + Q̄_jj·exp(q_kj)  ± F̄·(M - γ²·exp(2q_kj))
//	l̄_ij += Q̄_ij                  ∓ F̄·γ²·l_ij
//	x̄_i += -Σ_k Q_kᵀ·Q_k·(w_ik·c_ik)
//
// One sweep over the points so costs one triangular product for β (TriNorms)
// and one weighted symmetric rank-N update for m and M (WeightedMoments): about
// twice the objective.
//
// The tangent carries, with P = QᵀQ, S = ½(QᵀQ̇ + Q̇ᵀQ) = ½Ṗ,
//
//	β̇_ik = α̇_k + Σ_j q̇_kj - cᵀ·S·c + cᵀ·P·μ̇_k - cᵀ·P·ẋ_i
//	Ḟ   += Σ_ik r_ik·β̇_ik - N·softmax(α)·α̇ ± Σ_k Σ_ij ∂prior/∂Q·Q̇
//
// and the tangent of the adjoint (Ḟ̄ is the tangent of F̄) has the weights
//
//	ẇ_ik = w_ik·(β̇_ik - Σ_l r_il·β̇_il) + Ḟ̄·r_ik
//
// and, with ċ_ik = ẋ_i - μ̇_k, the moments
//
//	Ẇ_k = Σ_i ẇ_ik,  ṁ_k = Σ_i ẇ·c + w·ċ,  Ṁ_k = Σ_i ẇ·c·cᵀ + w·(ċ·cᵀ + c·ċᵀ),
//
// after which each line of the gradient is differentiated by the product rule.

// Forward adds the log posterior to Out.
func (k LogPosterior[T]) Forward() {
	k.check()
	if k.Out != nil {
		f, _ := k.sweep(LogPosterior[T]{}, LogPosterior[T]{}, LogPosterior[T]{})
		*k.Out += f
	}
}

// Inverse subtracts the log posterior from Out.
func (k LogPosterior[T]) Inverse() {
	k.check()
	if k.Out != nil {
		f, _ := k.sweep(LogPosterior[T]{}, LogPosterior[T]{}, LogPosterior[T]{})
		*k.Out -= f
	}
}

// Adjoint subtracts the log posterior from Out, and adds its gradient times
// the cotangent g.Out to those of g.Alpha, g.Means, g.Factors and g.X that are
// there. Without g.Out there is no gradient.
func (k LogPosterior[T]) Adjoint(g LogPosterior[T]) {
	k.check()
	rev.CheckLike(&k, &g)
	if k.Out == nil && g.Out == nil {
		return
	}
	f, _ := k.sweep(g, LogPosterior[T]{}, LogPosterior[T]{})
	if k.Out != nil {
		*k.Out -= f
	}
}

// Tangent adds the log posterior to Out, and its derivative in the direction t
// to t.Out. A nil operand of t is a zero direction.
func (k LogPosterior[T]) Tangent(t LogPosterior[T]) {
	k.check()
	rev.CheckLike(&k, &t)
	if k.Out == nil && t.Out == nil {
		return
	}
	f, df := k.sweep(LogPosterior[T]{}, t, LogPosterior[T]{})
	if k.Out != nil {
		*k.Out += f
	}
	if t.Out != nil {
		*t.Out += df
	}
}

// AdjointTangent is the tangent of Adjoint: it takes Out and t.Out back to
// before Tangent, adds the gradient to g, and adds to gt the derivative of the
// gradient in the direction t, which is the Hessian times t where g.Out is 1
// and gt.Out is 0.
func (k LogPosterior[T]) AdjointTangent(g, t, gt LogPosterior[T]) {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	f, df := k.sweep(g, t, gt)
	if k.Out != nil {
		*k.Out -= f
	}
	if t.Out != nil {
		*t.Out -= df
	}
}

// check panics unless the operands are well formed and of the shapes that the
// equation needs.
func (k *LogPosterior[T]) check() {
	rev.Check(k)
	d, comps := k.X.Cols, k.Alpha.N
	if k.Means.Rows != comps || k.Means.Cols != d || k.Factors.Rows != comps || k.Factors.Cols != d*(d+1)/2 {
		panic(mat.ErrShape)
	}
	if !(k.Prior.Gamma >= 0) || math.IsInf(k.Prior.Gamma, 1) {
		panic(badGamma)
	}
	if k.Prior.M < 0 {
		panic(negM)
	}
}
