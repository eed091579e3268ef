package gmm

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// The moments that expectation maximisation needs are in the gradient of the
// log posterior F. With W_k, m_k and M_k the weighted moments of LogPosterior
// at F̄ = 1, and A_k = M_k + γ²·I,
//
//	W_k         = N·softmax(α)_k + ∂F/∂α_k
//	Q_kᵀ·Q_k·m_k = ∂F/∂μ_k
//	lower(Q_k·A_k)_ij = -∂F/∂l_ij,  (Q_k·A_k)_jj = (W_k + M - ∂F/∂q_kj)/exp(q_kj)
//
// The first two are solved at once. The third gives the lower triangle of Q·A
// only, but A is symmetric, so its rows follow one after the other:
//
//	A_ij = ((Q·A)_ij - Σ_{l<i} Q_il·A_lj)/Q_ii  for j <= i,
//
// where each A_lj on the right, or A_jl, is known already. Then, with
// δ_k = m_k/W_k, the step is
//
//	w_k = W_k/N,  μ_k += δ_k,  Σ_k = (A_k - W_k·δ_k·δ_kᵀ)/(W_k + M).
//
// So EM is ascent along the gradient in a metric of its own, as Xu and Jordan
// observed (On convergence properties of the EM algorithm for Gaussian
// mixtures, Neural Computation 8, 1996).

// step takes a step of expectation maximisation from f.x, given the gradient
// f.grad of -F there.
func (f *fit) step() error {
	k, d, n := f.model.K, f.model.X.Cols, float64(f.model.X.Rows)
	p, g := viewParams(f.x, k, d), viewParams(f.grad, k, d)
	m := float64(f.model.Prior.M)
	weights := append([]float64(nil), p.Alpha.Data...)
	softmax(weights)
	q, a, delta := make([]float64, d*d), make([]float64, d*d), make([]float64, d)
	for c := range k {
		w := float64(n*weights[c]) - g.Alpha.Data[c]
		if w < minWeight*n {
			// Nothing is left of the component, and its moments are noise.
			p.Alpha.Data[c] = math.Log(minWeight)
			continue
		}
		p.Alpha.Data[c] = math.Log(w / n)

		unpackFactor(q, p.Factors.Row(c), d)
		row := g.Factors.Row(c)
		l := row[d:]
		for j := range d {
			a[j*d+j] = (w + m + row[j]) / q[j*d+j]
			for i := j + 1; i < d; i++ {
				a[i*d+j] = l[0]
				l = l[1:]
			}
		}
		for i := range d {
			for j := range i + 1 {
				s := a[i*d+j]
				for l := range i {
					s -= float64(q[i*d+l] * a[l*d+j])
				}
				a[i*d+j] = s / q[i*d+i]
				a[j*d+i] = a[i*d+j]
			}
		}

		invertLower(q, d)
		clear(delta)
		for i := range d { // δ = -Q⁻¹·Q⁻ᵀ·ḡ/W
			var s float64
			for l := i; l < d; l++ {
				s -= float64(q[l*d+i] * g.Means.Row(c)[l])
			}
			for l := i; l < d; l++ {
				delta[l] += q[l*d+i] * s / w
			}
		}
		floats.Add(p.Means.Row(c), delta)
		for i := range d {
			for j := range i + 1 {
				a[i*d+j] = (a[i*d+j] - float64(w*delta[i]*delta[j])) / (w + m)
			}
		}
		if row, pivot := setFactor(p.Factors.Row(c), a, d); row < d {
			return &SingularError{Component: c, Row: row, Pivot: pivot}
		}
	}
	return nil
}
