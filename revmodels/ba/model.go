package ba

import (
	"gonum.org/v1/gonum/mat"

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
// The parameters x are one vector of length Dim: those of the cameras, and then the
// points. The methods read x and write their results in place. They do not allocate,
// and you may call them concurrently. They panic with mat.ErrShape if a length is
// wrong, and with rev.ErrOverlap if a result shares storage with an argument.
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

// SetParams copies x to the parameters of the problem.
func (m *Model) SetParams(x []float64) {
	if len(x) != m.Dim() {
		panic(mat.ErrShape)
	}
	n := copy(m.Problem.Cameras, x)
	copy(m.Problem.Points, x[n:])
}

// modelScratch holds residuals and related vectors.
type modelScratch struct{ r, other []float64 }

// view returns the kernel with parameters that are views of x, and R that is a view of
// r.
func (m *Model) view(x, r []float64) Snavely[float64] {
	if len(x) != m.Dim() {
		panic(mat.ErrShape)
	}
	k := m.Problem.Kernel()
	n := len(m.Problem.Cameras)
	k.Cameras.Data, k.Points.Data = x[:n:n], x[n:]
	k.R, k.Workers = rev.ViewSlice(r), m.Workers
	return k
}

// NumResiduals returns the number of residuals, two an observation.
func (m *Model) NumResiduals() int { return len(m.Problem.Features) }

// Residuals overwrites dst with the residuals at x.
func (m *Model) Residuals(dst, x []float64) {
	if len(dst) != m.NumResiduals() {
		panic(mat.ErrShape)
	}
	k := m.view(x, dst)
	pass := rev.ForwardPass(&k) // before dst is cleared
	clear(dst)
	_ = k.Run(pass)
}

// Mul overwrites dst with J·v, the Jacobian of the residuals at x times v. The loss
// does not matter.
func (m *Model) Mul(dst, x, v []float64) {
	if len(dst) != m.NumResiduals() {
		panic(mat.ErrShape)
	}
	t, k := m.view(v, dst), m.view(x, nil)
	t.Features.Data = nil
	k.R = rev.Vector[float64]{}
	pass := rev.TangentPass(&k, &t)
	clear(dst)
	_ = k.Run(pass)
}

// TransMul overwrites dst with Jᵀ·r, the transpose of the Jacobian of the residuals at
// x times r. The loss does not matter.
func (m *Model) TransMul(dst, x, r []float64) {
	if len(r) != m.NumResiduals() {
		panic(mat.ErrShape)
	}
	m.adjoint(dst, x, r)
}

// residuals computes the residuals at x in s.
func (m *Model) residuals(s *modelScratch, x []float64) {
	s.r = workspace.Zeros(s.r, len(m.Problem.Features))
	_ = m.view(x, s.r).Forward()
}

// Func returns the cost at x.
func (m *Model) Func(x []float64) float64 {
	s := workspace.Get[modelScratch]()
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
	s := workspace.Get[modelScratch]()
	defer workspace.Put(s)
	m.residuals(s, x)
	m.weigh(s.r, s.r)
	m.adjoint(grad, x, s.r)
}

// GaussNewton overwrites dst with Jᵀ(ρ'·J·v), the Gauss-Newton approximation of the
// Hessian at x times v. It is positive semidefinite, and close to the Hessian if
// residuals are small. dst may be v.
func (m *Model) GaussNewton(dst, x, v []float64) {
	s := workspace.Get[modelScratch]()
	defer workspace.Put(s)
	s.r = workspace.Zeros(s.r, len(m.Problem.Features))
	s.other = workspace.Zeros(s.other, len(s.r))
	t := m.view(v, s.other)
	t.Features.Data = nil
	_ = m.view(x, s.r).Tangent(t)
	m.weigh(s.other, s.r)
	m.adjoint(dst, x, s.other)
}

// weigh multiplies the pair of each observation in dst by ρ' for its residual in r.
func (m *Model) weigh(dst, r []float64) {
	if m.Loss == nil {
		return
	}
	for i := 0; i < len(r); i += 2 {
		_, slope := m.Loss.Rho(float64(r[i]*r[i]) + float64(r[i+1]*r[i+1]))
		dst[i] *= slope
		dst[i+1] *= slope
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
	_ = k.Run(pass)
}
