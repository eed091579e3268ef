package optim_test

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"revnum/optim"
	"revnum/rev"
	"revnum/revlinalg"
)

// TestLeftover has a number in the output before the program. It would be minimised, too.
func TestLeftover(t *testing.T) {
	type state struct {
		X    *mat.VecDense
		Loss float64
	}
	s := &state{X: mat.NewVecDense(3, []float64{0.1, 0.2, 0.7}), Loss: 3.1e6}
	o := &optim.Objective[state, float64]{
		Program: rev.At(func(s *state) revlinalg.SumSquares[float64] {
			return revlinalg.NewSumSquares(&s.Loss, s.X)
		}),
		Output: func(s *state) *float64 { return &s.Loss },
		Params: func(s *state) [][]float64 { return [][]float64{s.X.RawVector().Data} },
		State:  s,
	}
	grad, v := make([]float64, 3), []float64{1, 0, 0}
	evaluations := map[string]func() error{
		"Value":         func() error { _, err := o.Value(); return err },
		"ValueGradient": func() error { _, err := o.ValueGradient(grad); return err },
		"HessianVector": func() error { _, err := o.HessianVector(make([]float64, 3), grad, v); return err },
		"Step":          func() error { _, err := o.Step(&optim.SGD{Rate: optim.Constant(0.125)}); return err },
		"Problem": func() error {
			_, err := optimize.Minimize(o.Problem(), o.Vector(nil), nil, &optimize.BFGS{})
			return err
		},
	}
	for name, evaluate := range evaluations {
		var wrong *rev.Violation
		if err := evaluate(); !errors.As(err, &wrong) || s.Loss != 3.1e6 || s.X.AtVec(2) != 0.7 {
			t.Errorf("%s: error %v, state %v", name, err, s)
		}
	}
	s.Loss = 0
	for range 3 {
		for name, evaluate := range evaluations {
			if err := evaluate(); err != nil || s.Loss != 0 {
				t.Errorf("%s: error %v, left %v", name, err, s.Loss)
			}
			copy(s.X.RawVector().Data, []float64{0.1, 0.2, 0.7})
		}
	}
}
