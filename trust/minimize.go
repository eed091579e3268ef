package trust

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/internal/objective"
	"revnum/rev"
)

// Problem is a function of n variables with its derivatives. The functions overwrite
// their first argument. They must not modify x or v.
type Problem struct {
	Func func(x []float64) float64
	Grad func(grad, x []float64)

	// Hess stores the Hessian, for exact steps. If it is nil, Minimize uses HessVec.
	Hess func(hess *mat.SymDense, x []float64)

	// HessVec stores the product of the Hessian at x with v, for truncated conjugate
	// gradients. Minimize does not use it if Hess is not nil.
	HessVec func(dst, x, v []float64)
}

// Options are the options of Minimize. The zero value of each field stands for a
// default.
type Options struct {
	// Radius is the first radius of the trust region, 1 if it is 0. MaxRadius bounds
	// the radius. It is 10⁶ times Radius if it is 0, and 2⁴⁰⁰ if it is larger than that.
	Radius, MaxRadius float64

	// MaxIter is the largest number of iterations, which are the steps tried. It is
	// 1000 if it is 0.
	MaxIter int

	// MaxHessians is the largest number of evaluations of Hess. There is no bound if it
	// is 0.
	MaxHessians int

	// Tolerance bounds the largest element of the gradient at a minimum. It is 1e-10 if
	// it is 0, and there is no such test if it is negative. The iteration leaves a
	// start at a saddle point only if Tolerance is negative and there is a Hess:
	// conjugate gradients begin with the gradient.
	Tolerance float64

	// Target, if it is not nil, ends the iteration when f is at or below it.
	Target *float64
}

// Status says why a minimisation ended.
type Status int

// The reasons to end.
const (
	Failure           Status = iota // the error that Minimize returns
	GradientThreshold               // the gradient is small enough
	TargetReached                   // f is at or below the target
	StepConvergence                 // no representable step within MaxRadius decreases f
	IterationLimit                  // MaxIter or MaxHessians is reached
	Cancelled                       // the context is done
)

var statusNames = [...]string{"failure", "gradient threshold", "target reached", "step convergence", "iteration limit", "cancelled"}

// String returns the reason in words.
func (s Status) String() string { return objective.Name(s, statusNames[:]) }

// Result is the result of Minimize.
type Result struct {
	X        []float64 // the location
	F        float64   // f at X
	Gradient []float64 // its gradient

	Status     Status
	Iterations int // steps tried

	// Funcs, Grads, Hessians and HessVecs count the evaluations of each function.
	Funcs, Grads, Hessians, HessVecs int
}

// ErrNotFinite is the error that Minimize wraps if f or its gradient at the start,
// or the Hessian at any location, is infinite or NaN.
var ErrNotFinite = errors.New("trust: not finite")

const (
	accept = 1e-4 // share of the promised decrease for a step to be taken
	bad    = 0.25 // share below which the radius shrinks
	good   = 0.75 // share above which it may grow
)

// Minimize looks for a local minimum of p, starting at x0, which it does not modify.
// A nil opts means the defaults. Minimize panics with a *rev.OperandError if x0 is
// empty or p lacks functions.
//
// If an option makes no sense, it returns an error and no result. On any other error,
// such as the error of ctx, the result is the best location so far. If f is not finite
// at the end of a step, that step is not taken.
func Minimize(ctx context.Context, p Problem, x0 []float64, opts *Options) (*Result, error) {
	n := len(x0)
	if n == 0 {
		panic(&rev.OperandError{Kernel: "trust.Minimize", Operand: "x0", Reason: "has no elements", Err: mat.ErrZeroLength})
	}
	if p.Func == nil || p.Grad == nil || p.Hess == nil && p.HessVec == nil {
		panic(&rev.OperandError{Kernel: "trust.Problem", Operand: "Func, Grad, or Hess and HessVec", Reason: "is nil", Err: errors.ErrUnsupported})
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	if err := o.fill(); err != nil {
		return nil, err
	}

	r := &Result{X: append([]float64(nil), x0...), Gradient: make([]float64, n)}
	r.F = p.Func(r.X)
	p.Grad(r.Gradient, r.X)
	r.Funcs, r.Grads = 1, 1
	if !isFinite(r.F) || !allFinite(r.Gradient) {
		return r, fmt.Errorf("%w: f = %v or its gradient at the start", ErrNotFinite, r.F)
	}

	var m model
	if p.Hess != nil {
		m = &spectralSubproblem{hess: mat.NewSymDense(n, nil)}
	} else {
		m = newConjugate(n)
	}
	radius := o.Radius
	s, trial := make([]float64, n), make([]float64, n)
	grad := make([]float64, n)
	moved := true
	for {
		switch {
		case o.Target != nil && r.F <= *o.Target:
			r.Status = TargetReached
			return r, nil
		case floats.Norm(r.Gradient, math.Inf(1)) <= o.Tolerance:
			r.Status = GradientThreshold
			return r, nil
		case r.Iterations == o.MaxIter, moved && o.MaxHessians > 0 && r.Hessians == o.MaxHessians:
			r.Status = IterationLimit
			return r, nil
		case ctx.Err() != nil:
			r.Status = Cancelled
			return r, ctx.Err()
		}
		if moved {
			if err := m.at(p, r); err != nil {
				return r, err
			}
		}
		r.Iterations++
		promised, err := m.step(ctx, s, radius, p, r)
		if err != nil {
			return r, err
		}
		if ctx.Err() != nil {
			continue // the step may be cut short
		}
		length := floats.Norm(s, 2)
		if !(promised > 0) || !allFinite(s) {
			r.Status = StepConvergence
			return r, nil
		}
		floats.AddTo(trial, r.X, s)
		f := p.Func(trial)
		r.Funcs++

		// If the difference is below the rounding of f, or the step below that of X, it says
		// nothing. As long as f does not rise, the model is then trusted.
		share, still := (r.F-f)/promised, floats.Equal(trial, r.X)
		if (still || promised <= 4*eps*math.Abs(r.F)) && f <= r.F {
			share = 1
		}
		if math.IsInf(f, -1) {
			share = 0 // outside of the domain too
		}
		grown := share > good && length > 0.9*radius && radius < o.MaxRadius
		switch {
		case !(share >= bad):
			radius = bad * length
		case grown:
			radius = math.Min(2*radius, o.MaxRadius)
		}
		moved = share > accept && !still
		if moved {
			p.Grad(grad, trial)
			r.Grads++
			moved = allFinite(grad)
			if !moved {
				radius = bad * length
			}
		}
		if moved {
			copy(r.X, trial)
			copy(r.Gradient, grad)
			r.F = f
			continue
		}
		// A step that the radius makes too short to move X says nothing of longer ones.
		if !grown && (radius <= eps*math.Max(floats.Norm(r.X, 2), math.SmallestNonzeroFloat64) || still) {
			r.Status = StepConvergence
			return r, nil
		}
	}
}

const eps = 0x1p-52

// fill sets defaults. It returns an error if an option makes no sense.
func (o *Options) fill() error {
	switch {
	case !(o.Radius >= 0):
		return fmt.Errorf("trust: option Radius is %v", o.Radius)
	case !(o.MaxRadius >= 0):
		return fmt.Errorf("trust: option MaxRadius is %v", o.MaxRadius)
	case o.MaxIter < 0:
		return fmt.Errorf("trust: option MaxIter is %d", o.MaxIter)
	case o.MaxHessians < 0:
		return fmt.Errorf("trust: option MaxHessians is %d", o.MaxHessians)
	case math.IsNaN(o.Tolerance):
		return fmt.Errorf("trust: option Tolerance is %v", o.Tolerance)
	case o.Target != nil && math.IsNaN(*o.Target):
		return fmt.Errorf("trust: option Target is %v", *o.Target)
	}
	if o.Radius == 0 {
		o.Radius = 1
	}
	if o.MaxRadius == 0 {
		o.MaxRadius = 1e6 * o.Radius
	}
	o.MaxRadius = math.Min(o.MaxRadius, 0x1p400) // its square and that of a step are finite
	o.Radius = math.Min(o.Radius, o.MaxRadius)
	if o.MaxIter == 0 {
		o.MaxIter = 1000
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-10
	}
	return nil
}

// A model is the quadratic model at a location.
type model interface {
	// at makes it the model at the location in r.
	at(p Problem, r *Result) error

	// step stores a step no longer than the radius in s. It returns by how much the step
	// decreases the model. When ctx is done, any step will do.
	step(ctx context.Context, s []float64, radius float64, p Problem, r *Result) (float64, error)
}

func isFinite(v float64) bool { return v-v == 0 }

func allFinite(x []float64) bool {
	for _, v := range x {
		if !isFinite(v) {
			return false
		}
	}
	return true
}
