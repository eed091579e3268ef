package graphembed

import (
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"revnum/internal/objective"
	"revnum/rev"
	"revnum/trust"
)

// Model is the loss as a function of the positions of the free vertices, for
// minimisers. The graph and the positions of the fixed vertices are given.
//
// Its argument x is one vector of length Dim: the K coordinates of vertex m, then those
// of vertex m+1, and so on, where m is the number of rows of Fixed. Methods read x and
// overwrite their results in place. Func, Grad, FuncGrad and HessVec do not allocate.
// You may call all methods concurrently. They panic with mat.ErrShape if a length is
// wrong, and with an error that wraps rev.ErrOverlap if a result shares storage with an
// argument.
//
// The loss does not change when all vertices are moved or turned. With fewer than K+1
// fixed vertices, the Hessian is therefore singular at a minimum.
type Model struct {
	Graph   *Graph
	K       int                  // dimensions
	Fixed   rev.General[float64] // m×K: the first m vertices; the zero value if none is fixed
	Margin  float64
	Workers int // goroutines to use; 0 means GOMAXPROCS
}

// NewModel returns the model of an embedding of g into k dimensions. The first vertices
// stay at the rows of fixed, whose storage it shares. If fixed is nil, all vertices are
// free. It panics with mat.ErrShape if fixed does not have k columns, or has more rows
// than g has vertices.
func NewModel(g *Graph, k int, fixed *mat.Dense, margin float64) *Model {
	objective.CheckNonNegative("graphembed.Model", "K", k)
	m := &Model{Graph: g, K: k, Margin: margin}
	if fixed != nil && !fixed.IsEmpty() {
		m.Fixed = rev.ViewDense(fixed)
	}
	if m.Fixed.Data != nil {
		objective.CheckDims("graphembed.Model", "Fixed", m.Fixed.Rows, m.Fixed.Cols, min(m.Fixed.Rows, g.n), k)
	}
	return m
}

// Dim returns the number of variables.
func (m *Model) Dim() int { return (m.Graph.n - m.Fixed.Rows) * m.K }

// Kernel returns the kernel with the output at out and the free vertices at x, whose
// storage it shares.
func (m *Model) Kernel(x []float64, out *float64) Loss[float64] {
	if x == nil {
		x = []float64{}
	}
	k := m.View(x, out)
	k.Fixed, k.Graph, k.Margin, k.Workers = m.Fixed, m.Graph, m.Margin, m.Workers
	return k
}

// View returns a kernel of derivatives. The derivative of the output is at out, and the
// derivatives of the free vertices are at x, or absent if x is nil. The others are
// absent.
func (m *Model) View(x []float64, out *float64) Loss[float64] {
	if x != nil {
		objective.CheckLen("graphembed.Model", "x", len(x), m.Dim())
	}
	return Loss[float64]{Out: out, Free: rev.General[float64]{Rows: m.Graph.n - m.Fixed.Rows, Cols: m.K, Data: x, Stride: max(1, m.K)}}
}

// Func returns the loss at x.
func (m *Model) Func(x []float64) float64 { return objective.Value(m, x) }

// Grad overwrites grad with the gradient at x.
func (m *Model) Grad(grad, x []float64) { m.FuncGrad(grad, x) }

// FuncGrad is Func and Grad in the time of Grad.
func (m *Model) FuncGrad(grad, x []float64) float64 {
	return objective.Gradient(m, 1, grad, x)
}

// HessVec overwrites dst with the Hessian at x times v.
func (m *Model) HessVec(dst, x, v []float64) { objective.HessVec(m, 1, dst, x, v) }

// Problem returns the minimisation of the loss, for gonum/optimize.
func (m *Model) Problem() optimize.Problem {
	return optimize.Problem{Func: m.Func, Grad: m.Grad, Hess: m.Hess}
}

// TrustProblem returns the minimisation of the loss for package trust: by exact steps
// for up to exactDim variables, and by products with the Hessian for more.
func (m *Model) TrustProblem() trust.Problem {
	p := trust.Problem{Func: m.Func, Grad: m.Grad, HessVec: m.HessVec}
	if m.Dim() <= exactDim {
		p.Hess = m.Hess
	}
	return p
}

// Up to exactDim variables, a few eigendecompositions cost less than the more numerous
// steps without.
const exactDim = 300
