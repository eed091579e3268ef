package wave

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/logs"
	"revnum/internal/objective"
	"revnum/rev"
	"revnum/revlinalg"
)

// An Inversion is the problem of finding the speeds of a survey from its recordings. Its
// objective is, with the sums over shots, steps and receivers,
//
//	½·Σ(computed - recorded)² / Σ recorded²
//
// Func and Grad are those of gonum's optimize.Problem. The variables x, one for each
// cell, have no bounds. They stand for speeds between two bounds, and x = 0 for the
// middle:
//
//	c = slowest + (fastest - slowest)/(1 + e^-x)
//
// For each shot the program is Steps and then revlinalg.SumSquares of the traces, which
// begin with minus the recording. It takes the memory of about eight grids and of two
// copies of the recordings, for any number of steps. The bits that damping absorbs come
// on top.
//
// An Inversion keeps memory between calls, so only one goroutine may use it at a time.
type Inversion struct {
	survey           Survey
	recordings       []*mat.Dense
	slowest, fastest float64
	scale            float64 // of sources and recordings, so that Σ recorded² is power

	state, cotangents *experiment
	program           rev.Step[experiment]

	at       []float64 // where value and gradient belong to; nil if nowhere
	value    float64
	gradient []float64
	err      error // why value is NaN
}

// power is Σ recorded² of the scaled recordings. Squares of residuals then stay in the
// range of fixed.Q43, and its resolution suffices for millions of samples.
const power = 1 << 10

// NewInversion returns the problem for speeds between slowest and fastest. It returns an
// error if the survey is invalid or not stable for these speeds, if 0 < slowest < fastest
// does not hold, or if the recordings are all zero, not finite, or of other dimensions
// than those that Record returns, or too weak to be caused by the wavelets.
func NewInversion(s Survey, recordings []*mat.Dense, slowest, fastest float64) (*Inversion, error) {
	if !(slowest > 0 && slowest < fastest) {
		return nil, fmt.Errorf("wave: the speeds must be between %v and %v", slowest, fastest)
	}
	if err := s.Check(fastest); err != nil {
		return nil, err
	}
	if len(recordings) != len(s.Shots) {
		return nil, fmt.Errorf("wave: %d recordings for %d shots", len(recordings), len(s.Shots))
	}
	var norm float64
	for i, m := range recordings {
		if r, c := m.Dims(); r != s.Steps || c != len(s.Shots[i].Receivers) {
			return nil, fmt.Errorf("wave: the recording of shot %d is %d×%d, want %d×%d", i, r, c, s.Steps, len(s.Shots[i].Receivers))
		}
		norm = math.Hypot(norm, mat.Norm(m, 2))
	}
	if !(norm > 0) || math.IsInf(norm, 1) {
		return nil, fmt.Errorf("wave: the norm of the recordings is %v, and must be positive and finite", norm)
	}
	scale := math.Sqrt(power) / norm
	for i := range s.Shots {
		for _, w := range s.Shots[i].Wavelet {
			if math.Abs(scale*w) > maxAmplitude {
				return nil, fmt.Errorf("wave: the recordings are too weak for the wavelet of shot %d: their norm is %v", i, norm)
			}
		}
	}
	v := &Inversion{
		survey: s, recordings: recordings, slowest: slowest, fastest: fastest, scale: scale,
		state: newExperiment(&s), cotangents: newExperiment(&s), gradient: make([]float64, s.Rows*s.Cols),
	}
	v.program = rev.Seq(
		rev.At(func(e *experiment) Steps[fixed.Q43] { return e.steps(&v.survey) }),
		rev.At(func(e *experiment) revlinalg.SumSquares[fixed.Q43] {
			return revlinalg.SumSquares[fixed.Q43]{Out: &e.Misfit, X: rev.ViewSlice(e.Trace.Data)}
		}))
	return v, nil
}

// Func returns the objective at x. It panics with mat.ErrShape unless x has a number for
// each cell. It returns NaN if x has a NaN, or if the program of a shot fails. Err says
// which.
func (v *Inversion) Func(x []float64) float64 {
	v.evaluate(x)
	return v.value
}

// Grad overwrites grad with the gradient at x. Lengths are checked as in Func, and the
// gradient is NaN where the objective is.
func (v *Inversion) Grad(grad, x []float64) {
	objective.CheckLen("wave.Inversion", "grad", len(grad), len(v.gradient))
	v.evaluate(x)
	copy(grad, v.gradient)
}

// Err returns why the last value of Func or Grad is NaN, or nil if it is a number. As the
// Status of an optimize.Problem, a function that returns it ends a search with the error.
func (v *Inversion) Err() error { return v.err }

// Speeds returns the speeds for which x stands. It panics with mat.ErrShape unless x has a
// number for each cell.
func (v *Inversion) Speeds(x []float64) *mat.Dense {
	objective.CheckLen("wave.Inversion", "x", len(x), len(v.gradient))
	c := mat.NewDense(v.survey.Rows, v.survey.Cols, nil)
	for k, x := range x {
		c.RawMatrix().Data[k] = v.speed(x)
	}
	return c
}

// Variables returns the x that stands for the speeds c. It returns an error if a speed is
// not between the bounds, and panics with mat.ErrShape if c has other dimensions than the
// survey.
func (v *Inversion) Variables(c mat.Matrix) ([]float64, error) {
	rows, cols := v.survey.Rows, v.survey.Cols
	r, n := c.Dims()
	objective.CheckDims("wave.Inversion", "c", r, n, rows, cols)
	x := make([]float64, rows*cols)
	for i := range rows {
		for j := range cols {
			c := c.At(i, j)
			if !(c > v.slowest && c < v.fastest) {
				return nil, fmt.Errorf("wave: the speed %v in cell (%d, %d) is not between %v and %v", c, i, j, v.slowest, v.fastest)
			}
			x[i*cols+j] = logs.Log((c - v.slowest) / (v.fastest - c))
		}
	}
	return x, nil
}

func (v *Inversion) speed(x float64) float64 {
	return v.slowest + (v.fastest-v.slowest)/(1+math.Exp(-x))
}

// evaluate computes value and gradient at x, unless they are there.
func (v *Inversion) evaluate(x []float64) {
	objective.CheckLen("wave.Inversion", "x", len(x), len(v.gradient))
	if slices.Equal(v.at, x) {
		return
	}
	v.at = append(v.at[:0], x...)
	v.value, v.err = 0, nil
	clear(v.gradient)
	s := &v.survey
	ratio := s.Dt / s.Spacing
	for k, x := range x {
		if math.IsNaN(x) {
			v.fail(fmt.Errorf("wave: variable %d is NaN", k))
			return
		}
		courant := v.speed(x) * ratio
		v.state.M.Data[k] = fixed.FromFloat64(courant * courant)
	}
	for i := range s.Shots {
		shot := &s.Shots[i]
		v.state.load(s, shot, v.scale, v.recordings[i])
		g := v.cotangents
		g.load(s, shot, 0, nil)
		clear(g.M.Data)
		value, err := rev.ValueGradient(v.program, func(e *experiment) *fixed.Q43 { return &e.Misfit }, v.state, g)
		if err != nil {
			v.fail(fmt.Errorf("wave: shot %d: %w", i, err))
			return
		}
		v.value += value.Float64() / (2 * power)
		for k, m := range g.M.Data {
			v.gradient[k] += m.Float64() / (2 * power)
		}
	}
	// ∂M/∂c = 2·c·(dt/h)², and ∂c/∂x = (c-slowest)·(fastest-c)/(fastest-slowest)
	for k, x := range x {
		c := v.speed(x)
		v.gradient[k] = float64(v.gradient[k] * 2 * c * ratio * ratio * (c - v.slowest) * (v.fastest - c) / (v.fastest - v.slowest))
	}
}

// fail makes value and gradient NaN, because of err.
func (v *Inversion) fail(err error) {
	v.err = err
	v.value = math.NaN()
	for k := range v.gradient {
		v.gradient[k] = math.NaN()
	}
}
