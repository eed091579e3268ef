package gmm

import "revnum/rev"

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

// The tangent carries ċ_ik = ẋ_i - μ̇_k, ẏ_ik = Q̇_k·c_ik + Q_k·ċ_ik and
//
//	β̇_ik = α̇_k + Σ_j q̇_kj - y_ik·ẏ_ik,  Ṙ_ik += δ_ik = β̇_ik - Σ_l r_il·β̇_il,
//
// and the tangent of the adjoint, with the tangent Ṡ of S,
//
//	ẇ_ik = ġR_ik - r_ik·(Ṡ_i + δ_ik·S_i),  ż_ik = ẇ_ik·y_ik + w_ik·ẏ_ik,
//
// after which each line of the gradient is differentiated by the product rule.

// The sweep over the points is that of LogPosterior, with these weights for F̄·r.

// logResponsibilitiesRun is Run of LogResponsibilities. It returns no error.
func logResponsibilitiesRun[T rev.Float](k *LogResponsibilities[T], p *rev.Pass[LogResponsibilities[T]]) error {
	if k.R.Data == nil && p.G.R.Data == nil && p.T.R.Data == nil && p.GT.R.Data == nil {
		return nil
	}
	inputs := func(k *LogResponsibilities[T]) LogPosterior[T] {
		return LogPosterior[T]{Alpha: k.Alpha, Means: k.Means, Factors: k.Factors, X: k.X, Workers: k.Workers}
	}
	sweepOver(inputs(k), inputs(&p.G), inputs(&p.T), inputs(&p.GT), ratios[T]{k.R, p.G.R, p.T.R, p.GT.R, T(p.Sign())})
	return nil
}

// ratios are R, its cotangent, tangent, and the tangent of the cotangent.
type ratios[T rev.Float] struct {
	r, g, t, gt rev.General[T]
	sign        T // of what is added to r and t
}

// given reports whether these are the ratios of a pass.
func (o *ratios[T]) given() bool {
	return o.r.Data != nil || o.g.Data != nil || o.t.Data != nil || o.gt.Data != nil
}

// addRatios adds to row i of R and of its tangent, for point p of slot b. It replaces
// the responsibilities by the weights w, and their tangents by ẇ. It is given the β of the panel,
// the largest β of the point, the log of Σ exp(β - top), and Σ r·β̇.
func (s *sweep[T]) addRatios(b, i, p int, beta []T, top, log, mean T) {
	o := &s.ratios
	g, gt := rowOrNil(o.g, i), rowOrNil(o.gt, i)
	sum, dsum := sumOf(g), sumOf(gt)
	for k := range s.comps {
		if o.r.Data != nil {
			o.r.Row(i)[k] += T(o.sign * (beta[k*s.panel+p] - top - log))
		}
		at := (b*s.comps+k)*s.panel + p
		r := float64(s.rs[at])
		var delta, w, dw float64
		if s.tangent {
			delta = float64(s.dws[at] - mean)
			if o.t.Data != nil {
				o.t.Row(i)[k] += T(o.sign * T(delta))
			}
		}
		if g != nil {
			w = float64(g[k]) - float64(r*sum)
		}
		if gt != nil {
			dw = float64(gt[k])
		}
		s.rs[at] = T(w)
		if s.tangent {
			s.dws[at] = T(dw - float64(r*(dsum+float64(delta*sum))))
		}
	}
}

func rowOrNil[T any](m rev.General[T], i int) []T {
	if m.Data == nil {
		return nil
	}
	return m.Row(i)
}

func sumOf[T rev.Float](x []T) (sum float64) {
	for _, v := range x {
		sum += float64(v)
	}
	return sum
}
