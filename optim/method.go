package optim

import (
	"errors"
	"math"

	"revnum/internal/logs"
	"revnum/internal/objective"
	"revnum/rev"
)

// A Method takes steps that make a function smaller. It remembers what it needs from
// earlier steps. All its steps must be on vectors of the same length. Those of this package
// panic with a *rev.OperandError if they are not, if the gradient has another length, or
// if there is no Rate.
type Method interface {
	// Step changes x, given the gradient at x.
	Step(x, grad []float64)
}

// SGD is gradient descent with momentum. With the gradient g and the rate η, a step is
//
//	v <- μ·v + g,  x <- x - η·v,  or with Nesterov  x <- x - η·(g + μ·v).
//
// Its equations are those of PyTorch. A Momentum of 0 is plain gradient descent.
type SGD struct {
	Rate     Schedule
	Momentum float64 // μ
	Nesterov bool

	velocity []float64
	step     int
}

// Step implements Method.
func (m *SGD) Step(x, grad []float64) {
	if m.step == 0 {
		m.velocity = make([]float64, len(x))
	}
	checkStep("optim.SGD", m.Rate, x, grad, m.velocity)
	rate := m.Rate(m.step)
	m.step++
	for i, g := range grad {
		v := float64(m.Momentum*m.velocity[i]) + g
		m.velocity[i] = v
		if m.Nesterov {
			v = g + float64(m.Momentum*v)
		}
		x[i] -= float64(rate * v)
	}
}

// Adam scales each element of the step by running means of the gradient g and of its
// square. In step t = 1, 2, ..., with the rate η,
//
//	m <- β₁·m + (1 - β₁)·g,  v <- β₂·v + (1 - β₂)·g²,
//	x <- x - η·λ·x - η·m̂/(√v̂ + ε),  m̂ = m/(1 - β₁ᵗ),  v̂ = v/(1 - β₂ᵗ).
//
// Without Decay it is algorithm 1 of D. P. Kingma and J. Ba, Adam: a method for
// stochastic optimization, arXiv 1412.6980. With Decay, it is AdamW: I. Loshchilov and F.
// Hutter, Decoupled weight decay regularization, arXiv 1711.05101 (algorithm 2, with η·λ as
// in PyTorch).
type Adam struct {
	Rate    Schedule
	Beta1   float64 // 0 means 0.9
	Beta2   float64 // 0 means 0.999
	Epsilon float64 // 0 means 1e-8
	Decay   float64 // λ

	mean, square []float64
	step         int
}

// Step implements Method.
func (m *Adam) Step(x, grad []float64) {
	if m.step == 0 {
		m.mean, m.square = make([]float64, len(x)), make([]float64, len(x))
	}
	checkStep("optim.Adam", m.Rate, x, grad, m.mean)
	beta1, beta2, eps := orDefault(m.Beta1, 0.9), orDefault(m.Beta2, 0.999), orDefault(m.Epsilon, 1e-8)
	rate := m.Rate(m.step)
	m.step++
	c1, c2 := 1-logs.Pow(beta1, float64(m.step)), 1-logs.Pow(beta2, float64(m.step))
	for i, g := range grad {
		m.mean[i] = float64(beta1*m.mean[i]) + float64((1-beta1)*g)
		m.square[i] = float64(beta2*m.square[i]) + float64((1-beta2)*g*g)
		x[i] -= float64(rate * (float64(m.Decay*x[i]) + m.mean[i]/c1/(math.Sqrt(m.square[i]/c2)+eps)))
	}
}

// checkStep panics unless a method has a rate, and x and grad have the length of what it
// remembers.
func checkStep(of string, rate Schedule, x, grad, memory []float64) {
	if rate == nil {
		panic(&rev.OperandError{Kernel: of, Operand: "Rate", Reason: "is nil, want a schedule such as optim.Constant(0.01)", Err: errors.ErrUnsupported})
	}
	objective.CheckLen(of, "x", len(x), len(memory))
	objective.CheckLen(of, "grad", len(grad), len(memory))
}

func orDefault(x, otherwise float64) float64 {
	if x == 0 {
		return otherwise
	}
	return x
}
