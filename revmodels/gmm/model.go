package gmm

import (
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"revnum/internal/objective"
	"revnum/internal/parallel"
	"revnum/rev"
)

// Model is the log posterior of a mixture as a function of its parameters, for the
// minimisers of gonum/optimize. The points and the prior are fixed.
//
// Minimisers minimise, so Func is the NEGATIVE log posterior -F(x) of
// LogPosterior, and Grad, Hess and HessVec are derivatives of -F.
//
// The parameters x are one vector of length Dim, in the order of ADBench: the K log
// weights α, the K×D means by rows, the K×D(D+1)/2 factors by rows. The methods read x
// and write their results in place. Func, Grad and HessVec do not allocate. You may
// call all methods concurrently. They panic with mat.ErrShape if a length is wrong, and
// with rev.ErrOverlap if a result shares storage with an argument.
//
// F does not change if you add a constant to all α, so the Hessian has a null vector.
// If a method needs a regular Hessian, fix one α.
type Model struct {
	X       rev.General[float64] // N×D: the points, one a row
	K       int                  // components
	Prior   Prior
	Workers int // goroutines to use; 0 means GOMAXPROCS
}

// NewModel returns the model with k components of the points in the rows of x. It
// shares the storage of x if x is a mat.RawMatrixer, or a vector (points of dimension
// 1). Otherwise it copies x.
func NewModel(x mat.Matrix, k int, prior Prior) *Model {
	if k < 0 {
		panic(mat.ErrNegativeDimension)
	}
	return &Model{X: objective.View(x), K: k, Prior: prior}
}

// paramsLen returns the number of parameters of k components of dimension d.
func paramsLen(k, d int) int {
	return k * (1 + d + d*(d+1)/2)
}

// viewParams returns a kernel whose parameters are views of x, or nil if x is.
func viewParams(x []float64, k, d int) LogPosterior[float64] {
	if x == nil {
		return LogPosterior[float64]{}
	}
	if len(x) != paramsLen(k, d) {
		panic(mat.ErrShape)
	}
	means, factors := k, k+k*d
	return LogPosterior[float64]{
		Alpha:   rev.ViewSlice(x[:means:means]),
		Means:   rev.General[float64]{Rows: k, Cols: d, Data: x[means:factors:factors], Stride: d},
		Factors: rev.General[float64]{Rows: k, Cols: d * (d + 1) / 2, Data: x[factors:], Stride: d * (d + 1) / 2},
	}
}

// Dim returns the number of parameters, K·(1 + D + D(D+1)/2). Of these K-1 + K·D +
// K·D(D+1)/2 are free, because the log weights are not normalised.
func (m *Model) Dim() int {
	return paramsLen(m.K, m.X.Cols)
}

// LogPosterior returns the kernel with the parameters x, sharing their storage,
// and with nil Out.
func (m *Model) LogPosterior(x []float64) LogPosterior[float64] { return binding{m}.Kernel(x, nil) }

// A binding is the model as an objective.
type binding struct{ *Model }

// Kernel implements objective.Model.
func (m binding) Kernel(x []float64, out *float64) LogPosterior[float64] {
	if x == nil {
		x = []float64{}
	}
	k := m.View(x, out)
	k.X, k.Prior, k.Workers = m.X, m.Prior, m.Workers
	return k
}

// View implements objective.Model.
func (m binding) View(x []float64, out *float64) LogPosterior[float64] {
	k := viewParams(x, m.K, m.X.Cols)
	k.Out = out
	return k
}

// Func returns the negative log posterior at x.
func (m *Model) Func(x []float64) float64 { return -objective.Value(binding{m}, x) }

// Grad overwrites grad with the gradient of the negative log posterior at x.
func (m *Model) Grad(grad, x []float64) { m.FuncGrad(grad, x) }

// FuncGrad is Func and Grad in a single pass over the points. It takes as long as Grad.
func (m *Model) FuncGrad(grad, x []float64) float64 {
	return -objective.Gradient(binding{m}, -1, grad, x)
}

// HessVec overwrites dst with the Hessian of the negative log posterior at x
// times v. It costs about two gradients.
func (m *Model) HessVec(dst, x, v []float64) { objective.HessVec(binding{m}, -1, dst, x, v) }

// Hess overwrites hess, which must be of order Dim, with the Hessian of the negative
// log posterior at x. It makes Dim Hessian-vector products in parallel.
func (m *Model) Hess(hess *mat.SymDense, x []float64) {
	n := m.Dim()
	if hess.SymmetricDim() != n {
		panic(mat.ErrShape)
	}
	alone := *m
	alone.Workers = 1
	workers := min(parallel.Workers(m.Workers), n)
	h := &hessian{model: &alone, x: x, hess: hess, scratch: make([]float64, workers*2*n)}
	parallel.Run(workers, n, h)
}

// hessian is the parallel task of Hess. Block i is the part of row i from the diagonal
// on, which is what a SymDense stores.
type hessian struct {
	model   *Model
	x       []float64
	hess    *mat.SymDense
	scratch []float64 // of each worker, a unit vector and a row
}

// Block implements parallel.Task.
func (h *hessian) Block(worker, i int) {
	n := h.model.Dim()
	unit, row := h.scratch[2*worker*n:][:n], h.scratch[(2*worker+1)*n:][:n]
	unit[i] = 1
	h.model.HessVec(row, h.x, unit)
	unit[i] = 0
	for j := i; j < n; j++ {
		h.hess.SetSym(i, j, row[j])
	}
}

// Problem returns the minimisation of the negative log posterior.
func (m *Model) Problem() optimize.Problem {
	return optimize.Problem{Func: m.Func, Grad: m.Grad, Hess: m.Hess}
}
