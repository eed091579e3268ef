package trust

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// spectralSubproblem finds the exact minimiser of the model. With H = Q·diag(λ)·Qᵀ and a =
// Qᵀg, it is s = -Q·y for
//
//	y_i = a_i/(λ_i + μ),  μ >= max(0, -λ_min),  ‖y‖ <= Δ,  μ·(Δ - ‖y‖) = 0.
//
// If the minimum with μ = 0 is not in the region, μ is the root of the secular
// equation 1/‖y(μ)‖ = 1/Δ. The equation is nearly linear and concave in μ, so
// Newton's method from below the root converges in a few steps.
//
// The unknown is the distance t = μ + λ_min, with λ_i + μ = (λ_i - λ_min) + t. If g
// has almost no part along the eigenvector of a negative λ_min, t is smaller than
// the rounding of μ. In the hard case g has no such part at all, and ‖y‖ may stay
// below Δ for all t > 0. The rest of the length then goes along that eigenvector.
type spectralSubproblem struct {
	hess   *mat.SymDense
	eigen  mat.EigenSym
	q      mat.Dense
	lambda []float64
	a, y   []float64
}

func (m *spectralSubproblem) at(p Problem, r *Result) error {
	p.Hess(m.hess, r.X)
	r.Hessians++
	n := len(r.X)
	for i := range n {
		for j := i; j < n; j++ {
			if v := m.hess.At(i, j); !isFinite(v) {
				return fmt.Errorf("%w: element (%d, %d) of the Hessian is %v", ErrNotFinite, i, j, v)
			}
		}
	}
	if !m.eigen.Factorize(m.hess, true) {
		return fmt.Errorf("trust: the eigenvalues of the Hessian do not converge")
	}
	m.eigen.VectorsTo(&m.q)
	if m.a == nil {
		m.lambda = make([]float64, n)
		m.a, m.y = make([]float64, n), make([]float64, n)
	}
	m.eigen.Values(m.lambda)
	m.multiply(blas.Trans, m.a, r.Gradient)

	// The sign of an eigenvalue within the rounding of H is unknown. Such an eigenvalue
	// is replaced by a small positive one. Steps then do not go far in directions in
	// which f is constant.
	top := math.Max(math.Abs(m.lambda[0]), math.Abs(m.lambda[n-1]))
	noise := 4 * eps * float64(n) * top
	for i, l := range m.lambda {
		if math.Abs(l) < noise {
			m.lambda[i] = noise
		}
	}
	return nil
}

// multiply computes dst = Q·x or Qᵀ·x.
func (m *spectralSubproblem) multiply(t blas.Transpose, dst, x []float64) {
	blas64.Gemv(t, 1, m.q.RawMatrix(), blas64.Vector{N: len(x), Data: x, Inc: 1}, 0, blas64.Vector{N: len(dst), Data: dst, Inc: 1})
}

// solve stores y for a given t. It returns the norm of y and Σ (y_i/‖y‖)²/(λ_i + μ). The
// latter is minus the derivative of the norm by t, divided by the norm. If λ_i + μ is 0, so
// is y_i.
func (m *spectralSubproblem) solve(t float64) (norm, slope float64) {
	least := m.lambda[0]
	for i, a := range m.a {
		m.y[i] = 0
		if d := m.lambda[i] - least + t; d > 0 && a != 0 {
			m.y[i] = a / d
		}
	}
	norm = floats.Norm(m.y, 2)
	for i, y := range m.y {
		if y != 0 {
			slope += (y / norm) * (y / norm) / (m.lambda[i] - least + t)
		}
	}
	return norm, slope
}

func (m *spectralSubproblem) step(_ context.Context, s []float64, radius float64, _ Problem, _ *Result) (float64, error) {
	m.minimize(radius)
	var promised float64
	for i, y := range m.y {
		// -(aᵀs + ½·sᵀλs) for s = -y
		promised += float64(y * (m.a[i] - m.lambda[i]*y/2))
	}
	m.multiply(blas.NoTrans, s, m.y)
	floats.Scale(-1, s)
	return promised, nil
}

// minimize stores the minimiser in y.
func (m *spectralSubproblem) minimize(radius float64) {
	least := m.lambda[0]
	t := math.Max(0, least)
	if least > 0 {
		if norm, _ := m.solve(t); norm <= radius {
			return
		}
	} else if m.flat() {
		if norm, _ := m.solve(0); norm < radius {
			m.fillUp(norm, radius)
			return
		}
	}
	// ‖y‖ >= |a_i|/(λ_i + μ), so this t is not above the root.
	for i, a := range m.a {
		t = math.Max(t, math.Abs(a)/radius-(m.lambda[i]-least))
	}
	for range 100 {
		norm, slope := m.solve(t)
		next := t + (norm-radius)/radius/slope
		if norm <= radius*(1+1e-12) || !(next > t) || !isFinite(next) {
			break
		}
		t = next
	}
	if norm, _ := m.solve(t); norm > radius {
		floats.Scale(radius/norm, m.y)
	}
}

// flat reports whether the gradient has no part along the eigenvectors of the
// least eigenvalue.
func (m *spectralSubproblem) flat() bool {
	for i, l := range m.lambda {
		if l > m.lambda[0] {
			break
		}
		if m.a[i] != 0 {
			return false
		}
	}
	return true
}

// fillUp lengthens y to the radius along the first eigenvector.
func (m *spectralSubproblem) fillUp(norm, radius float64) {
	m.y[0] = radius * math.Sqrt(math.Max(0, (1-norm/radius)*(1+norm/radius)))
}
