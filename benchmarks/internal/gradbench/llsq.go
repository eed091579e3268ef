package gradbench

import (
	"encoding/json"
	"errors"
	"fmt"

	"revnum/rev"
	"revnum/revlinalg"
)

// maxPoints is the largest n of llsq. The input does not hold the points, so nothing
// else bounds n. This many points take a gigabyte.
const maxPoints = 1 << 26

// llsqPrimal evaluates half the sum of the squares of sign(t) - Σ_j x_j·t^j over n
// points t, evenly spaced from -1 to 1.
func llsqPrimal(input json.RawMessage, workers int) (evaluation, error) {
	k, err := parseLLSQ(input, workers)
	if err != nil {
		return evaluation{}, err
	}
	call := func() {
		spread(k.X.Data, k.Y.Data)
		*k.Out = 0
		k.Forward()
	}
	return toNumber(call, k.Out), nil
}

// llsqGradient evaluates the gradient with respect to the coefficients x.
func llsqGradient(input json.RawMessage, workers int) (evaluation, error) {
	k, err := parseLLSQ(input, workers)
	if err != nil {
		return evaluation{}, err
	}
	k.Out = nil // nothing to uncompute
	one := 1.
	gradient := make([]float64, k.C.N)
	g := revlinalg.PolyLeastSquares[float64]{Out: &one, C: rev.ViewSlice(gradient)}
	call := func() {
		spread(k.X.Data, k.Y.Data)
		clear(gradient)
		k.Adjoint(g)
	}
	return toNumbers(call, gradient), nil
}

// spread stores points evenly spaced from -1 to 1 in t, and their signs in s.
func spread(t, s []float64) {
	s = s[:len(t)]
	last := float64(len(t) - 1)
	for i := range t {
		v := -1 + float64(2*i)/last
		t[i], s[i] = v, 0
		if v > 0 {
			s[i] = 1
		} else if v < 0 {
			s[i] = -1
		}
	}
}

func parseLLSQ(input json.RawMessage, workers int) (k revlinalg.PolyLeastSquares[float64], err error) {
	var in struct {
		X numbers
		N *int
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return k, err
	}
	switch {
	case in.X == nil:
		return k, missing("x")
	case in.N == nil:
		return k, missing("n")
	case len(in.X) == 0:
		return k, errors.New("x: expected at least one number, found none")
	case *in.N < 2 || *in.N > maxPoints:
		// Evenly spaced points need at least two.
		return k, fmt.Errorf("n: expected 2 to %d points, found %d", maxPoints, *in.N)
	}
	t, s := make([]float64, *in.N), make([]float64, *in.N)
	return revlinalg.PolyLeastSquares[float64]{
		Out: new(float64), C: rev.ViewSlice([]float64(in.X)), X: rev.ViewSlice(t), Y: rev.ViewSlice(s), Workers: workers,
	}, nil
}
