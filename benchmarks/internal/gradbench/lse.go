package gradbench

import (
	"encoding/json"
	"errors"

	"revnum/rev"
	"revnum/revnn"
)

// lsePrimal evaluates the logarithm of the sum of the exponentials of x.
func lsePrimal(input json.RawMessage, workers int) (evaluation, error) {
	k, err := parseLSE(input, workers)
	if err != nil {
		return evaluation{}, err
	}
	call := func() {
		*k.Out = 0
		k.Forward()
	}
	return toNumber(call, k.Out), nil
}

// lseGradient evaluates the gradient of lsePrimal.
func lseGradient(input json.RawMessage, workers int) (evaluation, error) {
	k, err := parseLSE(input, workers)
	if err != nil {
		return evaluation{}, err
	}
	k.Out = nil // nothing to uncompute
	one := 1.
	gradient := make([]float64, k.X.N)
	g := revnn.LogSumExp[float64]{Out: &one, X: rev.ViewSlice(gradient)}
	call := func() {
		clear(gradient)
		k.Adjoint(g)
	}
	return toNumbers(call, gradient), nil
}

func parseLSE(input json.RawMessage, workers int) (k revnn.LogSumExp[float64], err error) {
	var in struct{ X numbers }
	if err := json.Unmarshal(input, &in); err != nil {
		return k, err
	}
	if in.X == nil {
		return k, missing("x")
	}
	if len(in.X) == 0 {
		return k, errors.New("x: expected at least one number, found none")
	}
	return revnn.LogSumExp[float64]{Out: new(float64), X: rev.ViewSlice([]float64(in.X)), Workers: workers}, nil
}
