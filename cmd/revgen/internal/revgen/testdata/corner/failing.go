package corner

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/revlinalg"
)

// rooted changes y, takes roots of x, which may be negative, changes y and out, and takes
// logarithms of y.
//
//revgen:kernel Rooted[T rev.Real]
func rooted(out *float64, y, z, x, v []float64) error {
	if len(x) != len(y) || len(x) != len(z) || len(x) != len(v) {
		panic("shape")
	}
	for i := range x {
		y[i] += 0.5 * math.Sin(x[i]) * v[i]
	}
	if err := revlinalg.NewSqrt(mat.NewVecDense(len(z), z), mat.NewVecDense(len(x), x)).Forward(); err != nil {
		return err
	}
	for i := range x {
		y[i] += z[i] * z[i] / 64
		*out += y[i] * v[i]
	}
	return revlinalg.NewLog(mat.NewVecDense(len(z), z), mat.NewVecDense(len(y), y)).Inverse()
}

// errPhase is the error of a phase of phases.
var errPhase = errors.New("corner: no logarithm")

// phases calls kernels that may fail in a loop, under a condition and in functions.
//
//revgen:kernel Phases[T rev.Real]
func phases(x, y, z []float64, times int, divide bool) error {
	if len(x) != len(y) || len(x) != len(z) {
		panic("shape")
	}
	if times < 0 {
		return errPhase
	}
	h := 0.5
	for i := range times {
		if err := phase(x, y, h, divide); err != nil {
			return fmt.Errorf("phase %d: %w", i, err)
		}
		for j := range x {
			x[j] += 0.0625 * z[j] * y[j]
		}
		h = math.Cos(h)
	}
	return nil
}

func phase(x, y []float64, h float64, divide bool) error {
	_ = drifted(x, y, h)
	if divide {
		if err := revlinalg.NewDivElem(mat.NewVecDense(len(y), y), mat.NewVecDense(len(x), x), mat.NewVecDense(len(x), x)).Forward(); err != nil {
			return err
		}
	} else if len(x) > 2 {
		if err := revlinalg.NewLog(mat.NewVecDense(len(y), y), mat.NewVecDense(len(x), x)).Forward(); err != nil {
			return fmt.Errorf("%w: %w", errPhase, err)
		}
	}
	return nil
}

// drifted adds h·y to x, and returns a number that phase does not need.
func drifted(x, y []float64, h float64) float64 {
	for j := range x {
		x[j] += h * y[j]
	}
	return h
}
