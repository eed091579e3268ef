package gmm

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/logs"
	"revnum/internal/objective"
	"revnum/rev"
)

// Sign is the sign of the prior in the log posterior.
type Sign int

const (
	// GradBench adds the log density of the prior, as Bayes' rule says.
	GradBench Sign = iota
	// ADBench subtracts it, as the published benchmark does by mistake.
	ADBench
)

// Prior is the Wishart prior on the precision matrices, with scale matrix I/γ² and ν =
// D+M+1 degrees of freedom. The zero Prior is none: the log posterior is then the
// log-likelihood.
type Prior struct {
	Gamma float64 // γ; 0 for no prior
	M     int     // ν-D-1, not negative
	Sign  Sign
}

// LogPosterior is the kernel
//
//	Out += F
//
// of the log posterior F of a Gaussian mixture with K components, given N points of
// dimension D:
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
// magnitudes of its terms, with ‖|Q_k|·|x_i - μ_k|‖² for ‖Q_k·(x_i - μ_k)‖². Relative
// to F it is larger if terms cancel. The sums over points are computed in float64,
// block by block in an order that depends on N, D and K alone. The result therefore has
// the same bits for every number of workers. The sums of the gradient are computed in
// T, again block by block. In float32 their error relative to the largest is 1e-7 at
// 10⁵ points and 1e-6 at 10⁶. From eight dimensions on, gradients omit responsibilities
// below 2⁻⁹⁶⁰ (2⁻¹⁰⁰ for float32). Inverse restores Out up to the rounding of one
// addition and one subtraction.
//
// Beyond the operands, it needs memory of the order of K·D² and one batch of points
// (some MiB), whatever N is.
//
// A negative or non-finite γ, or a negative M, panics with a *rev.OperandError. The
// equations are those of ADBench (Šrajer, Kukelova and Fitzgibbon, 2018, arXiv
// 1807.10129, section 4.1) as corrected by GradBench.
type LogPosterior[T rev.Float] struct {
	Out     *T             `rev:"acc"`                    // the log posterior F
	Alpha   rev.Vector[T]  `rev:"in" shape:"K"`           // log weights α, not normalised
	Means   rev.General[T] `rev:"in" shape:"K,D"`         // means μ
	Factors rev.General[T] `rev:"in" shape:"K,D*(D+1)/2"` // D log-diagonal entries q, then the strictly lower triangle column by column
	X       rev.General[T] `rev:"in" shape:"N,D"`         // the points x, one a row

	Prior   Prior
	Workers int // goroutines to use; 0 means GOMAXPROCS
}

// NewLogPosterior returns the kernel that adds to out, over gonum types, sharing their
// storage.
func NewLogPosterior(out *float64, alpha *mat.VecDense, means, factors, x *mat.Dense, prior Prior) LogPosterior[float64] {
	return LogPosterior[float64]{
		Out: out, Alpha: rev.ViewVec(alpha), Means: rev.ViewDense(means),
		Factors: rev.ViewDense(factors), X: rev.ViewDense(x), Prior: prior,
	}
}

// The gradient needs no quantity of the size N·K·D. Let r_ik = exp(β_ik - logsumexp_k
// β_ik) be the responsibilities, F̄ the cotangent of Out, w_ik = F̄·r_ik and c_ik = x_i -
// μ_k. The gradient by the parameters of component k depends on the points only by
// three weighted moments:
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
// One sweep over the points thus costs one triangular product for β (TriNorms) and one
// weighted symmetric rank-N update for m and M (WeightedMoments), about twice the
// objective.
//
// The tangent carries, with P = QᵀQ, S = ½(QᵀQ̇ + Q̇ᵀQ) = ½Ṗ,
//
//	β̇_ik = α̇_k + Σ_j q̇_kj - cᵀ·S·c + cᵀ·P·μ̇_k - cᵀ·P·ẋ_i
//	Ḟ   += Σ_ik r_ik·β̇_ik - N·softmax(α)·α̇ ± Σ_k Σ_ij ∂prior/∂Q·Q̇
//
// and the tangent of the adjoint has the weights
//
//	ẇ_ik = w_ik·(β̇_ik - Σ_l r_il·β̇_il) + ġF·r_ik
//
// and, with ċ_ik = ẋ_i - μ̇_k, the moments
//
//	Ẇ_k = Σ_i ẇ_ik,  ṁ_k = Σ_i ẇ·c + w·ċ,  Ṁ_k = Σ_i ẇ·c·cᵀ + w·(ċ·cᵀ + c·ċᵀ),
//
// after which each line of the gradient is differentiated by the product rule.

// logPosteriorRun is Run of LogPosterior. It returns no error.
func logPosteriorRun[T rev.Float](k *LogPosterior[T], p *rev.Pass[LogPosterior[T]]) error {
	k.Prior.check()
	if k.Out == nil && p.G.Out == nil && p.T.Out == nil && p.GT.Out == nil {
		return nil
	}
	f, df := sweepOver(*k, p.G, p.T, p.GT, ratios[T]{})
	if k.Out != nil {
		*k.Out += T(T(p.Sign()) * f)
	}
	if p.T.Out != nil {
		*p.T.Out += T(T(p.Sign()) * df)
	}
	return nil
}

var errPrior = errors.New("gmm: no such prior")

// check panics unless p has the parameters of a prior.
func (p Prior) check() {
	if !(p.Gamma >= 0) || math.IsInf(p.Gamma, 1) {
		panic(&rev.OperandError{Kernel: "gmm.Prior", Operand: "Gamma", Reason: fmt.Sprintf("is %v, want a finite number of at least 0", p.Gamma), Err: errPrior})
	}
	objective.CheckNonNegative("gmm.Prior", "M", p.M)
}

// terms returns the sign with which the prior enters, M and γ². They are 0 without a
// prior.
func (p Prior) terms() (sign, m, g2 float64) {
	switch {
	case p.Gamma == 0:
		return 0, 0, 0
	case p.Sign == ADBench:
		sign = -1
	default:
		sign = 1
	}
	return sign, float64(p.M), p.Gamma * p.Gamma
}

// constant returns the part of the prior of a component of dimension dim that does not
// depend on its parameters.
func (p Prior) constant(dim int) float64 {
	d := float64(dim)
	nu := d + float64(p.M) + 1
	logGamma := float64(d * (d - 1) / 4 * math.Log(math.Pi))
	for j := range dim {
		lg, _ := math.Lgamma((nu - float64(j)) / 2)
		logGamma += lg
	}
	return float64(nu*d*(logs.Log(p.Gamma)-math.Ln2/2)) - logGamma
}

// logPosteriorGiven reports whether any of the inputs is there.
func logPosteriorGiven[T rev.Float](k *LogPosterior[T]) bool {
	return k.Alpha.Data != nil || k.Means.Data != nil || k.Factors.Data != nil || k.X.Data != nil
}
