package ba

import (
	"errors"
	"fmt"
	"math"
	"time"

	"revnum/internal/objective"
)

// Status is the reason why Solve ended.
type Status int

// The reasons.
const (
	CostConvergence     Status = iota // the cost hardly changes
	GradientConvergence               // the gradient is small enough
	StepConvergence                   // the step is small enough
	RadiusLimit                       // no step, however short, lowers the cost
	IterationLimit
	TimeLimit
	Cancelled // by the context
)

var statusNames = [...]string{
	"cost converged", "gradient converged", "step converged", "no step lowers the cost", "iteration limit", "time limit", "cancelled",
}

// String returns the reason in words.
func (s Status) String() string { return objective.Name(s, statusNames[:]) }

// Converged reports whether a tolerance was reached.
func (s Status) Converged() bool { return s <= StepConvergence }

// Iteration is an attempted step.
type Iteration struct {
	Number   int     // 0 for the start
	Cost     float64 // after the step if it was taken, and otherwise before it
	Gradient float64 // largest element of the gradient at the same place
	Step     float64 // length of the step
	Radius   float64 // of the trust region of the step
	Gain     float64 // decrease of the cost relative to that of the linear model
	Taken    bool    // whether it was taken
	Linear   int     // iterations of conjugate gradients
	Elapsed  time.Duration
}

// Report says how a solution went.
type Report struct {
	Status         Status
	Initial, Final float64 // cost
	Iterations     []Iteration
	Method         Method // the method used, never Automatic
	Unknowns       int    // of cameras
	FactorElements int    // of the Cholesky factor, with its stored zeros
	Behind         int    // observations at the end of points that are not in front of their camera
	Duration       time.Duration
}

// ErrNotFinite is the error that Solve wraps if a residual or a derivative is infinite
// or NaN at the start, for example because a point is at depth zero.
var ErrNotFinite = errors.New("ba: not finite")

// explain returns the error for a cost or gradient at the start that is not finite. It
// looks for a cause in the observations.
func (s *solver) explain(sum float64) error {
	n := newNormal(s.best, &Options{Loss: s.opts.Loss, Workers: s.opts.Workers}, nil)
	n.linearise(s.best)
	first := -1
	for i, k := range s.order {
		if largest(n.r[2*i:2*(i+1)]) <= math.MaxFloat64 && largest(n.j[jacobianLen*i:jacobianLen*(i+1)]) <= math.MaxFloat64 {
			continue
		}
		if first < 0 || k < s.order[first] {
			first = i
		}
	}
	if first < 0 {
		return fmt.Errorf("%w: the cost or its gradient is %v", ErrNotFinite, sum)
	}
	c, q := s.best.Camera[first], s.best.Point[first]
	return fmt.Errorf("%w: observation %d, of point %d by camera %d, in front of which it is by %v",
		ErrNotFinite, s.order[first], q, c, 0-depth(s.best.Cameras[cameraLen*c:], s.best.Points[pointLen*q:]))
}

// depth returns the third coordinate of a point in the axes of a camera. It is negative
// in front of the camera.
func depth(camera, x []float64) float64 {
	r := rotationMatrix([3]float64(camera))
	return apply(&r, [3]float64(x))[2] + camera[5]
}

// behind returns the number of observations of points that are not in front of their
// camera.
func behind(p *Problem) int {
	axes := make([][3]float64, p.NumCameras()) // third rows of rotations
	for c := range axes {
		r := rotationMatrix([3]float64(p.Cameras[cameraLen*c:]))
		axes[c] = [3]float64(r[6:])
	}
	sum := 0
	for i, c := range p.Camera {
		x := p.Points[pointLen*p.Point[i]:]
		a := &axes[c]
		if !(float64(a[0]*x[0])+float64(a[1]*x[1])+float64(a[2]*x[2])+p.Cameras[cameraLen*c+5] < 0) {
			sum++
		}
	}
	return sum
}
