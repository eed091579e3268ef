package graphembed

import (
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"revnum/benchmarks/internal/suite"
	"revnum/revmodels/graphembed"
)

// Derivatives has the times of the loss and of its derivatives by the positions of all
// vertices, on one worker. It also has the errors of other ways to compute the
// derivatives: the largest difference of an element from the reversible gradient, or
// from the Hessian that uses the structure, relative to max(1, |element|).
//
// A time that was not measured is 0, and an error or a ratio NaN.
type Derivatives struct {
	Params int     `json:"params"`
	F      float64 `json:"f_seconds"`            // of the loss
	G      float64 `json:"g_seconds"`            // of the gradient
	H      float64 `json:"h_seconds"`            // of the dense Hessian
	U      float64 `json:"unstructured_seconds"` // of the products of the Hessian with all unit vectors
	FDG    float64 `json:"fd_g_seconds"`         // of gonum's fd.Gradient, by its default formula
	FDH    float64 `json:"fd_h_seconds"`         // of its fd.Hessian

	GOverF suite.Error `json:"g_over_f"`
	UOverG suite.Error `json:"unstructured_over_n_g"` // in multiples of Params gradients
	UOverH suite.Error `json:"unstructured_over_h"`

	UError   suite.Error `json:"unstructured_error"`
	FDGError suite.Error `json:"fd_g_error"`
	FDHError suite.Error `json:"fd_h_error"`
}

// tooLong is the longest time in seconds that a call of a function for comparison may
// take, estimated from the times of the loss and the gradient.
const tooLong = 0.5

// measureDerivatives measures each function for about the time d, at positions drawn
// from the normal distribution. Unlike at an embedding, the gradient is not 0 there,
// and no vertices are so near each other that differences fail.
func measureDerivatives(g *graphembed.Graph, k int, seed uint64, d time.Duration) Derivatives {
	m := graphembed.NewModel(g, k, nil, graphembed.DefaultMargin)
	m.Workers = 1
	n := m.Dim()
	rnd := rand.New(rand.NewPCG(seed, uint64(k)))
	x, grad, hess := make([]float64, n), make([]float64, n), mat.NewSymDense(n, nil)
	for i := range x {
		x[i] = rnd.NormFloat64()
	}
	unknown := suite.Error(math.NaN())
	v := Derivatives{Params: n, UOverG: unknown, UOverH: unknown, UError: unknown, FDGError: unknown, FDHError: unknown}
	v.F = suite.Shortest(d, func() { m.Func(x) })
	v.G = suite.Shortest(d, func() { m.Grad(grad, x) })
	v.H = suite.Shortest(d, func() { m.Hess(hess, x) })
	v.GOverF = suite.Error(v.G / v.F)

	params := float64(n)
	if params*v.F < tooLong {
		other := make([]float64, n)
		v.FDG = suite.Shortest(d, func() { fd.Gradient(other, m.Func, x, nil) })
		v.FDGError = largestError(mat.NewVecDense(n, other), mat.NewVecDense(n, grad))
	}
	if params*v.G < tooLong {
		unit, other := make([]float64, n), mat.NewDense(n, n, nil)
		v.U = suite.Shortest(d, func() {
			for i := range n {
				unit[i] = 1
				m.HessVec(other.RawRowView(i), x, unit)
				unit[i] = 0
			}
		})
		v.UOverG, v.UOverH = suite.Error(v.U/(params*v.G)), suite.Error(v.U/v.H)
		v.UError = largestError(other, hess)
	}
	if 2*params*params*v.F < tooLong { // four losses for each pair of parameters
		other := mat.NewSymDense(n, nil)
		v.FDH = suite.Shortest(d, func() { fd.Hessian(other, m.Func, x, nil) })
		v.FDHError = largestError(other, hess)
	}
	return v
}

// largestError returns the largest |a-b|/max(1, |b|) of all elements, or NaN if any is
// NaN.
func largestError(a, b mat.Matrix) suite.Error {
	worst := 0.0
	rows, cols := b.Dims()
	for i := range rows {
		for j := range cols {
			want := b.At(i, j)
			worst = max(worst, math.Abs(a.At(i, j)-want)/max(1, math.Abs(want)))
		}
	}
	return suite.Error(worst)
}
