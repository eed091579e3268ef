package gradbench

import (
	"encoding/json"
	"fmt"

	"revnum/rev"
	"revnum/revlinalg"
)

// detPrimal evaluates the determinant of a square matrix by expansion by minors.
func detPrimal(input json.RawMessage, _ int) (evaluation, error) {
	k, err := parseDet(input)
	if err != nil {
		return evaluation{}, err
	}
	call := func() {
		*k.Out = 0
		k.Forward()
	}
	return toNumber(call, k.Out), nil
}

// detGradient evaluates the gradient of the determinant with respect to the elements.
func detGradient(input json.RawMessage, _ int) (evaluation, error) {
	k, err := parseDet(input)
	if err != nil {
		return evaluation{}, err
	}
	k.Out = nil // nothing to uncompute
	one := 1.
	gradient := make([]float64, len(k.A.Data))
	g := revlinalg.DetMinors[float64]{Out: &one, A: rev.NewGeneral(k.A.Rows, k.A.Cols, gradient)}
	call := func() {
		clear(gradient)
		k.Adjoint(g)
	}
	return toNumbers(call, gradient), nil
}

func parseDet(input json.RawMessage) (k revlinalg.DetMinors[float64], err error) {
	var in struct {
		A   numbers
		Ell *int
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return k, err
	}
	switch {
	case in.A == nil:
		return k, missing("A")
	case in.Ell == nil:
		return k, missing("ell")
	}
	n := *in.Ell
	if n < 1 || n > revlinalg.MaxMinors {
		return k, fmt.Errorf("ell: expected 1 to %d rows, as there are 2^ell minors, found %d", revlinalg.MaxMinors, n)
	}
	if len(in.A) != n*n {
		return k, fmt.Errorf("matrix A: expected %d numbers, found %d", n*n, len(in.A))
	}
	return revlinalg.DetMinors[float64]{Out: new(float64), A: rev.NewGeneral(n, n, []float64(in.A))}, nil
}
