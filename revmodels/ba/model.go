package ba

import (
	"revnum/internal/objective"
	"revnum/internal/workspace"
	"revnum/rev"
)

// Model is the cost of a problem as a function of its parameters,
//
//	F(x) = ½ Σ_i ρ(‖r_i(x)‖²),
//
// for the minimisers of gonum/optimize or others. Solve needs far fewer steps than
// minimisers that do not know that F is a sum of squares.
//
// The parameters x are one vector of length Dim: the parameters of the cameras, and
// then the points. The methods read x and write their results in place. They do not
// allocate, and you may call them concurrently. They panic with mat.ErrShape if a
// length is wrong, and with rev.ErrOverlap if a result shares storage with an argument.
type Model struct {
	Problem *Problem // only its observations and the numbers of its parameters are read
	Loss    Loss     // nil means squares
	Workers int      // goroutines to use; 0 means GOMAXPROCS
}

// Dim returns the number of parameters.
func (m *Model) Dim() int { return len(m.Problem.Cameras) + len(m.Problem.Points) }

// Params appends the parameters of the problem to dst.
func (m *Model) Params(dst []float64) []float64 {
	return append(append(dst, m.Problem.Cameras...), m.Problem.Points...)
}

// modelScratch holds residuals.
type modelScratch struct{ r []float64 }

// view returns the kernel with parameters that are views of x, and R that is a view of
// r.
func (m *Model) view(x, r []float64) Snavely[float64] {
	objective.CheckLen("ba.Model", "x", len(x), m.Dim())
	k := m.Problem.Kernel()
	n := len(m.Problem.Cameras)
	k.Cameras.Data, k.Points.Data = x[:n:n], x[n:]
	k.R, k.Workers = rev.ViewSlice(r), m.Workers
	return k
}

// residuals computes the residuals at x in s.
func (m *Model) residuals(s *modelScratch, x []float64) {
	s.r = workspace.Zeros(s.r, len(m.Problem.Features))
	_ = m.view(x, s.r).Forward()
}

// Func returns the cost at x.
func (m *Model) Func(x []float64) float64 {
	s := workspace.Get[*modelScratch]()
	defer workspace.Put(s)
	m.residuals(s, x)
	return sumOfLosses(m.Loss, s.r)
}

// sumOfLosses returns ½ Σ ρ(‖r_i‖²).
func sumOfLosses(loss Loss, r []float64) float64 {
	var sum float64
	for i := 0; i < len(r); i += 2 {
		v := float64(r[i]*r[i]) + float64(r[i+1]*r[i+1])
		if loss != nil {
			v, _ = loss.Rho(v)
		}
		sum += v
	}
	return sum / 2
}

// Grad overwrites grad with the gradient Jᵀ(ρ'·r) of the cost at x.
func (m *Model) Grad(grad, x []float64) {
	s := workspace.Get[*modelScratch]()
	defer workspace.Put(s)
	m.residuals(s, x)
	m.weigh(s.r)
	m.adjoint(grad, x, s.r)
}

// weigh multiplies the residual of each observation by its ρ'.
func (m *Model) weigh(r []float64) {
	if m.Loss == nil {
		return
	}
	for i := 0; i < len(r); i += 2 {
		_, slope := m.Loss.Rho(float64(r[i]*r[i]) + float64(r[i+1]*r[i+1]))
		r[i] *= slope
		r[i+1] *= slope
	}
}

// adjoint overwrites dst with Jᵀ·cot.
func (m *Model) adjoint(dst, x, cot []float64) {
	g := m.view(dst, cot)
	g.Features.Data = nil
	k := m.view(x, nil)
	k.R = rev.Vector[float64]{}
	pass := rev.AdjointPass(&k, &g)
	clear(dst)
	_ = snavelyRun(&k, &pass)
}
