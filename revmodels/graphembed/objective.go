package graphembed

import (
	"math"

	"revnum/trust"
)

// An Objective is the loss of an embedding as a function of the positions of the free
// vertices, like a Model, but it is computed elsewhere. Embed calls the methods in one
// goroutine. A start ends at the first error, which is then that of the start.
type Objective interface {
	// FuncGrad returns the loss at x. It overwrites grad with the gradient, unless grad is nil.
	FuncGrad(grad, x []float64) (float64, error)

	// HessVec overwrites dst with the Hessian at x times v.
	HessVec(dst, x, v []float64) error

	// Free is the last call. It gives back what the Objective holds.
	Free() error
}

// A loss is what the methods of Embed minimise: a Model, or an Objective.
type loss interface {
	Func(x []float64) float64
	Grad(grad, x []float64)
	FuncGrad(grad, x []float64) float64
	TrustProblem() trust.Problem
}

// guardedLoss is an Objective as a loss. After an error everything is NaN, at which the
// minimisation ends.
type guardedLoss struct {
	of  Objective
	err error
}

func (e *guardedLoss) FuncGrad(grad, x []float64) (v float64) {
	if e.err == nil {
		v, e.err = e.of.FuncGrad(grad, x)
	}
	if e.err != nil {
		setNaN(grad)
		return math.NaN()
	}
	return v
}

func (e *guardedLoss) HessVec(dst, x, v []float64) {
	if e.err == nil {
		e.err = e.of.HessVec(dst, x, v)
	}
	if e.err != nil {
		setNaN(dst)
	}
}

func (e *guardedLoss) Func(x []float64) float64 { return e.FuncGrad(nil, x) }

func (e *guardedLoss) Grad(grad, x []float64) { e.FuncGrad(grad, x) }

func (e *guardedLoss) TrustProblem() trust.Problem {
	return trust.Problem{Func: e.Func, Grad: e.Grad, HessVec: e.HessVec}
}

func setNaN(x []float64) {
	for i := range x {
		x[i] = math.NaN()
	}
}
