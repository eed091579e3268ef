package borrowed

import (
	"errors"
	std "math"

	"gonum.org/v1/gonum/mat"
)

var errNegative = errors.New("negative")

// check is no kernel, and its error is asked for.
func check(p []float64) error {
	if p[0] < 10 {
		return errNegative
	}
	return inner(p)
}

func inner(p []float64) error {
	if len(p) == 0 {
		return errNegative
	}
	return nil
}

//revgen:gradient p hessian
func failures(p []float64) float64 {
	s := p[4] * p[5]
	if err := check(p); err != nil {
		s *= p[3]
	}
	return s * singular(p) * regular(p) * checked(p)
}

func checked(p []float64) float64 {
	if err := check(p); err != nil {
		return p[6] * p[6]
	}
	return p[7]
}

func singular(p []float64) float64 {
	a := mat.NewDense(2, 2, []float64{p[0], p[1], 2 * p[0], 2 * p[1]})
	var x mat.VecDense
	if err := x.SolveVec(a, mat.NewVecDense(2, p[1:3])); err != nil {
		return p[3] * p[3]
	}
	return p[4] * x.AtVec(0)
}

func regular(p []float64) float64 {
	a := mat.NewDense(2, 2, []float64{p[0] + 2, p[1], p[2], p[3] + 5})
	var x mat.VecDense
	if err := x.SolveVec(a, mat.NewVecDense(2, p[1:3])); err != nil {
		return p[3] * p[3]
	}
	return p[4] * std.Sin(x.AtVec(0))
}
