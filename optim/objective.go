package optim

import (
	"errors"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"revnum/fixed"
	"revnum/internal/objective"
	"revnum/rev"
)

// An Objective is the scalar output of a program as a function of parameters. The
// parameters are some of the numbers in the program's state. The vector of parameters
// has them in the order of Params.
//
// Evaluations change the state and change it back, exactly in fixed point and up to the
// rounding of Inverse in floating point. The output must be zero before the program, as it is
// after each evaluation. Otherwise an evaluation returns a *rev.Violation: the program would add
// to what is left there. An Objective must not be used by several
// goroutines at the same time.
//
// A trial far away, as line searches make, may add so much to a number of the state that the
// rounding of Inverse is large beside it, or that it becomes infinite, and NaN. Later evaluations
// then have another state. Where that may happen, let [rev.Checkpoint] restore these numbers.
type Objective[S any, T rev.Real] struct {
	Program rev.Step[S]
	Output  func(s *S) *T

	// Params returns the storage of the parameters in a state. It is also called with
	// states of cotangents and tangents.
	Params func(s *S) [][]T

	// State holds the parameters and everything else that the program works on. Between
	// calls you may change anything but the parameters, such as the batch of data.
	State *S

	x, grad []float64 // of Step

	// States of derivatives, which are used again while the storage in State stays the
	// same, and the parameters in State and in the first of them.
	g, t, h         rev.Zeros[S]
	last            *S
	params, gParams [][]T
}

// Dim returns the number of parameters.
func (o *Objective[S, T]) Dim() int {
	return length(o.Params(o.State))
}

func length[T any](params [][]T) int {
	n := 0
	for _, p := range params {
		n += len(p)
	}
	return n
}

// Vector stores the parameters in x and returns it. If x is nil, Vector allocates it.
func (o *Objective[S, T]) Vector(x []T) []T {
	if x == nil {
		x = make([]T, o.Dim())
	}
	o.gather("x", x, o.State)
	return x
}

// SetVector sets the parameters to x.
func (o *Objective[S, T]) SetVector(x []T) { o.scatter(o.State, "x", x) }

// cotangents returns a state of zeros for cotangents.
func (o *Objective[S, T]) cotangents() *S {
	if g := o.g.Like(o.State); g != o.last {
		o.last, o.params, o.gParams = g, o.Params(o.State), o.Params(g)
	}
	return o.last
}

// gather copies the parameters of s to x, and scatter copies x to those of s. x is an argument of
// the given name.
func (o *Objective[S, T]) gather(name string, x []T, s *S) {
	each(o.Params(s), name, len(x), func(p []T, at int) { copy(x[at:], p) })
}

func (o *Objective[S, T]) scatter(s *S, name string, x []T) {
	each(o.Params(s), name, len(x), func(p []T, at int) { copy(p, x[at:]) })
}

// each calls f with each slice of params and its start in the vector of n parameters, an argument of
// the given name.
func each[T any](params [][]T, name string, n int, f func(p []T, at int)) {
	objective.CheckLen("optim.Objective", name, n, length(params))
	at := 0
	for _, p := range params {
		f(p, at)
		at += len(p)
	}
}

// output returns the output, or an error unless it is zero. Set it to zero after the program, as
// the Inverse of sums of floats may leave a rounding error there.
func (o *Objective[S, T]) output() (*T, error) {
	out := o.Output(o.State)
	if *out != 0 {
		return nil, &rev.Violation{Step: "optim.Objective", Reason: "the output must be zero before the program", Value: *out}
	}
	return out, nil
}

// Value returns the output at the parameters in the state.
func (o *Objective[S, T]) Value() (T, error) {
	out, err := o.output()
	if err != nil {
		return 0, err
	}
	defer func() { *out = 0 }()
	if err := o.Program.Forward(o.State); err != nil {
		return 0, err
	}
	value := *o.Output(o.State)
	return value, o.Program.Inverse(o.State)
}

// ValueGradient returns the output at the parameters in the state, and stores its
// gradient in grad.
func (o *Objective[S, T]) ValueGradient(grad []T) (T, error) {
	value, err := o.valueGradient()
	if err == nil {
		each(o.gParams, "grad", len(grad), func(p []T, at int) { copy(grad[at:], p) })
	}
	return value, err
}

// valueGradient returns the output, and stores the gradient in the cotangents.
func (o *Objective[S, T]) valueGradient() (T, error) {
	out, err := o.output()
	if err != nil {
		return 0, err
	}
	defer func() { *out = 0 }()
	return rev.ValueGradient(o.Program, o.Output, o.State, o.cotangents())
}

// HessianVector returns the output at the parameters in the state. It stores its gradient
// in grad, and the product of its Hessian with v in hv.
func (o *Objective[S, T]) HessianVector(hv, grad, v []T) (T, error) {
	out, err := o.output()
	if err != nil {
		return 0, err
	}
	defer func() { *out = 0 }()
	g, t, h := o.cotangents(), o.t.Like(o.State), o.h.Like(o.State)
	o.scatter(t, "v", v)
	value, err := rev.HessianVector(o.Program, o.Output, o.State, g, t, h)
	if err == nil {
		o.gather("grad", grad, g)
		o.gather("hv", hv, h)
	}
	return value, err
}

// Problem returns the objective for gonum's minimisers. The problem has a Hessian if
// the program has second derivatives. Use Vector as the starting point. If an
// evaluation fails, the minimiser returns its error.
func (o *Objective[S, T]) Problem() optimize.Problem {
	n := o.Dim()
	grad, dir, hv := make([]T, n), make([]T, n), make([]T, n)
	var failed error
	note := func(err error) {
		if failed == nil {
			failed = err
		}
	}
	p := optimize.Problem{
		Func: func(x []float64) float64 {
			setFloats(o.Params(o.State), x)
			value, err := o.Value()
			note(err)
			return fixed.Float(value)
		},
		Grad: func(g, x []float64) {
			setFloats(o.Params(o.State), x)
			_, err := o.ValueGradient(grad)
			note(err)
			for i, v := range grad {
				g[i] = fixed.Float(v)
			}
		},
		Status: func() (optimize.Status, error) {
			if failed != nil {
				return optimize.Failure, failed
			}
			return optimize.NotTerminated, nil
		},
	}
	if _, err := o.HessianVector(hv, grad, dir); errors.Is(err, rev.ErrUnsupported) {
		return p
	}
	p.Hess = func(h *mat.SymDense, x []float64) {
		setFloats(o.Params(o.State), x)
		for j := range n {
			clear(dir)
			dir[j] = fixed.Of[T](1)
			_, err := o.HessianVector(hv, grad, dir)
			note(err)
			for i, v := range hv[:j+1] {
				h.SetSym(i, j, fixed.Float(v))
			}
		}
	}
	return p
}

// Step takes one step of m with the gradient at the parameters in the state. It returns
// the output before the step. While slices and pointers in the state lead to the same
// memory, later steps allocate only what the program and m allocate.
func (o *Objective[S, T]) Step(m Method) (T, error) {
	value, err := o.valueGradient()
	if err != nil {
		return value, err
	}
	if n := length(o.params); len(o.x) != n {
		o.x, o.grad = make([]float64, n), make([]float64, n)
	}
	floats(o.x, o.params)
	floats(o.grad, o.gParams)
	m.Step(o.x, o.grad)
	setFloats(o.params, o.x)
	return value, nil
}

// floats copies parameters to x, and setFloats copies x to parameters.
func floats[T rev.Real](x []float64, params [][]T) {
	each(params, "x", len(x), func(p []T, at int) {
		for i, v := range p {
			x[at+i] = fixed.Float(v)
		}
	})
}

func setFloats[T rev.Real](params [][]T, x []float64) {
	each(params, "x", len(x), func(p []T, at int) {
		for i := range p {
			p[i] = fixed.Of[T](x[at+i])
		}
	})
}
