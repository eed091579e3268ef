package gmm

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/parallel"
	"revnum/internal/workspace"
	"revnum/rev"
)

// LogResponsibilities is the kernel R ⊗= r, where r are the responsibilities of the K
// components of a Gaussian mixture for N points. They are logarithmic numbers: the
// elements of R are logs, and
//
//	R_ik += log r_ik,  log r_ik = β_ik - log ⊕_l β_il,
//	β_ik  = α_k + Σ_j q_kj - ½‖Q_k·(x_i - μ_k)‖²
//
// with the parameters of LogPosterior. The responsibility r_ik is the posterior
// probability of component k given point i. As a float64 it is 0 if k is about 39
// standard deviations further away than another component. Here it may be as small as
// e^-10³⁰⁸. R starts at the number 1, the log 0, as a new array in Go does.
// ulog.OfLogs(R.Data) are the responsibilities as numbers. For a matrix,
// ulog.MatrixOfLogs returns a mat.Matrix of them. ulog.Sum of a row is 1. Of a column
// it is the effective number of points of a component, which does not underflow either.
//
// Let S_i = Σ_l R̄_il and w_ik = R̄_ik - r_ik·S_i, whose sum over k is zero. With c_ik =
// x_i - μ_k, y_ik = Q_k·c_ik and z_ik = w_ik·y_ik, the gradient is
//
//	ᾱ_k += Σ_i w_ik,  μ̄_k += Q_kᵀ·Σ_i z_ik,  x̄_i -= Σ_k Q_kᵀ·z_ik,
//	q̄_kj += Σ_i w_ik + Q̄_jj·exp(q_kj),  l̄_ij += Q̄_ij,  Q̄_k = -lower(Σ_i z_ik·c_ikᵀ).
//
// The error of log r_ik, which is the relative error of r_ik, is below
//
//	(3D+9)·ε·(1 + max_l(½‖|Q_l|·|c_il|‖² + |α_l| + Σ_j |q_lj|) + log K)
//
// with ε of 2⁻⁵² or 2⁻²³. In float64 that is an absolute error of about 10⁻⁸ at 10⁴
// standard deviations. A weight w_ik has the error of r_ik times |S_i|. Inverse
// restores R up to the rounding of one addition and one subtraction. Results are the
// same bits for any number of workers.
//
// If all ‖y_ik‖² of a point overflow, its responsibilities are NaN.
type LogResponsibilities[T rev.Float] struct {
	R       rev.General[T] `rev:"acc" shape:"N,K"`        // log responsibilities
	Alpha   rev.Vector[T]  `rev:"in" shape:"K"`           // log weights α, not normalised
	Means   rev.General[T] `rev:"in" shape:"K,D"`         // means μ
	Factors rev.General[T] `rev:"in" shape:"K,D*(D+1)/2"` // as in LogPosterior
	X       rev.General[T] `rev:"in" shape:"N,D"`         // the points x, one a row

	Workers int // goroutines to use; 0 means GOMAXPROCS
}

// NewLogResponsibilities returns the kernel over gonum types, sharing their
// storage. The elements of r are logs.
func NewLogResponsibilities(r *mat.Dense, alpha *mat.VecDense, means, factors, x *mat.Dense) LogResponsibilities[float64] {
	return LogResponsibilities[float64]{
		R: rev.ViewDense(r), Alpha: rev.ViewVec(alpha), Means: rev.ViewDense(means),
		Factors: rev.ViewDense(factors), X: rev.ViewDense(x),
	}
}

// The tangent carries ċ_ik = ẋ_i - μ̇_k, ẏ_ik = Q̇_k·c_ik + Q_k·ċ_ik and
//
//	β̇_ik = α̇_k + Σ_j q̇_kj - y_ik·ẏ_ik,  Ṙ_ik += δ_ik = β̇_ik - Σ_l r_il·β̇_il,
//
// and the tangent of the adjoint, with the tangent Ṡ of S,
//
//	ẇ_ik = ġR_ik - r_ik·(Ṡ_i + δ_ik·S_i),  ż_ik = ẇ_ik·y_ik + w_ik·ẏ_ik,
//
// after which each line of the gradient is differentiated by the product rule.

// Forward multiplies R by the responsibilities.
func (k LogResponsibilities[T]) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse divides R by the responsibilities.
func (k LogResponsibilities[T]) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint divides R by the responsibilities and adds to the cotangents of the
// parameters and points.
func (k LogResponsibilities[T]) Adjoint(g LogResponsibilities[T]) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent multiplies R by the responsibilities, and adds the derivative of their logs
// in the direction t to t.R.
func (k LogResponsibilities[T]) Tangent(t LogResponsibilities[T]) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent undoes Tangent, and adds to the cotangents and to their tangents.
func (k LogResponsibilities[T]) AdjointTangent(g, t, gt LogResponsibilities[T]) {
	_ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel. It returns no error.
func (k LogResponsibilities[T]) Run(p rev.Pass[LogResponsibilities[T]]) error {
	if k.R.Data == nil && p.G.R.Data == nil && p.T.R.Data == nil && p.GT.R.Data == nil {
		return nil
	}
	s := workspace.Get[responsibilityPass[T]]()
	s.k, s.g, s.t, s.gt, s.sign = k, p.G, p.T, p.GT, T(p.Sign())
	workers := parallel.Workers(k.Workers)
	s.prepare(workers)
	parallel.Run(workers, s.parts, s)
	if s.gradient {
		s.finish()
	}
	// The pooled value must not keep the caller's storage alive.
	s.k, s.g, s.t, s.gt = LogResponsibilities[T]{}, LogResponsibilities[T]{}, LogResponsibilities[T]{}, LogResponsibilities[T]{}
	workspace.Put(s)
	return nil
}
