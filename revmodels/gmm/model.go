package gmm

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/objective"
	"revnum/internal/parallel"
	"revnum/rev"
)

// Model is the log posterior of a mixture as a function of its parameters. The points
// and the prior are fixed. A Model[float64] is for the minimisers of gonum/optimize: its
// methods Func, Grad and Hess are the functions of an optimize.Problem.
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
type Model[T rev.Float] struct {
	X       rev.General[T] // N×D: the points, one a row
	K       int            // components
	Prior   Prior
	Workers int // goroutines to use; 0 means GOMAXPROCS
}

// NewModel returns the model with k components of the points in the rows of x. It
// shares the storage of x if x is a mat.RawMatrixer, or a vector (points of dimension
// 1). Otherwise it copies x.
func NewModel(x mat.Matrix, k int, prior Prior) *Model[float64] {
	objective.CheckNonNegative("gmm.Model", "K", k)
	return &Model[float64]{X: objective.View(x), K: k, Prior: prior}
}

// paramsLen returns the number of parameters of k components of dimension d.
func paramsLen(k, d int) int {
	return k * (1 + d + d*(d+1)/2)
}

// Dim returns the number of parameters, K·(1 + D + D(D+1)/2). Of these K-1 + K·D +
// K·D(D+1)/2 are free, because the log weights are not normalised.
func (m *Model[T]) Dim() int {
	return paramsLen(m.K, m.X.Cols)
}

// Kernel returns the kernel with the output at out and the parameters x, whose storage
// it shares.
func (m *Model[T]) Kernel(x []T, out *T) LogPosterior[T] {
	if x == nil {
		x = []T{}
	}
	k := m.View(x, out)
	k.X, k.Prior, k.Workers = m.X, m.Prior, m.Workers
	return k
}

// View returns a kernel of derivatives. The derivative of the output is at out, and the
// derivatives of the parameters are at x, or absent if x is nil. The points have none.
func (m *Model[T]) View(x []T, out *T) LogPosterior[T] {
	if x == nil {
		return LogPosterior[T]{Out: out}
	}
	v := viewParams(x, m.K, m.X.Cols)
	v.Out = out
	return v
}

// viewParams returns a kernel whose parameters are views of x.
func viewParams[T rev.Float](x []T, k, d int) LogPosterior[T] {
	objective.CheckLen("gmm.Model", "x", len(x), paramsLen(k, d))
	means, factors, tri := k, k+k*d, d*(d+1)/2
	return LogPosterior[T]{
		Alpha:   rev.ViewSlice(x[:means:means]),
		Means:   rev.General[T]{Rows: k, Cols: d, Data: x[means:factors:factors], Stride: d},
		Factors: rev.General[T]{Rows: k, Cols: tri, Data: x[factors:], Stride: tri},
	}
}

// Func returns the negative log posterior at x.
func (m *Model[T]) Func(x []T) T { return -objective.Value(m, x) }

// Grad overwrites grad with the gradient of the negative log posterior at x.
func (m *Model[T]) Grad(grad, x []T) { m.FuncGrad(grad, x) }

// FuncGrad is Func and Grad in a single pass over the points. It takes as long as Grad.
func (m *Model[T]) FuncGrad(grad, x []T) T {
	return -objective.Gradient(m, -1, grad, x)
}

// HessVec overwrites dst with the Hessian of the negative log posterior at x
// times v. It costs about two gradients.
func (m *Model[T]) HessVec(dst, x, v []T) { objective.HessVec(m, -1, dst, x, v) }

// Hess overwrites hess, which must be of order Dim, with the Hessian of the negative
// log posterior at x. It makes Dim Hessian-vector products in parallel.
func (m *Model[T]) Hess(hess *mat.SymDense, x []T) {
	n := m.Dim()
	objective.CheckLen("gmm.Model", "hess", hess.SymmetricDim(), n)
	alone := *m
	alone.Workers = 1
	workers := min(parallel.Workers(m.Workers), n)
	h := &hessian[T]{model: &alone, x: x, hess: hess, scratch: make([]T, workers*2*n)}
	parallel.Run(workers, n, h)
}

// hessian is the parallel task of Hess. Block i is the part of row i from the diagonal
// on, which is what a SymDense stores.
type hessian[T rev.Float] struct {
	model   *Model[T]
	x       []T
	hess    *mat.SymDense
	scratch []T // of each worker, a unit vector and a row
}

// Block implements parallel.Task.
func (h *hessian[T]) Block(worker, i int) {
	n := h.model.Dim()
	unit, row := h.scratch[2*worker*n:][:n], h.scratch[(2*worker+1)*n:][:n]
	unit[i] = 1
	h.model.HessVec(row, h.x, unit)
	unit[i] = 0
	for j := i; j < n; j++ {
		h.hess.SetSym(i, j, float64(row[j]))
	}
}
