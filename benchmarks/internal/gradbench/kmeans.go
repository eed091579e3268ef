package gradbench

import (
	"encoding/json"
	"errors"
	"fmt"

	"revnum/rev"
	"revnum/revmodels/kmeans"
)

// kmeansCost evaluates the sum of the squared distances from the points to their
// nearest centroids.
func kmeansCost(input json.RawMessage, workers int) (evaluation, error) {
	k, err := parseKMeans(input, workers)
	if err != nil {
		return evaluation{}, err
	}
	call := func() {
		*k.Out = 0
		k.Forward()
	}
	return toNumber(call, k.Out), nil
}

// kmeansDirection evaluates the gradient of the cost with respect to the centroids,
// divided by the diagonal of the Hessian. For a centroid this is the centroid minus the
// mean of its points. For a centroid without points both are 0, and the result is 0.
func kmeansDirection(input json.RawMessage, workers int) (evaluation, error) {
	k, err := parseKMeans(input, workers)
	if err != nil {
		return evaluation{}, err
	}
	dir := rev.NewGeneral[float64](k.Centroids.Rows, k.Centroids.Cols, nil)
	output := func() (any, error) {
		rows := make([]numbers, dir.Rows)
		for i := range rows {
			rows[i] = dir.Row(i)
		}
		return rows, finite(dir.Data...)
	}
	return evaluation{call: func() { k.NewtonDirection(dir) }, output: output}, nil
}

func parseKMeans(input json.RawMessage, workers int) (k kmeans.Cost[float64], err error) {
	var in struct{ Points, Centroids []numbers }
	if err := json.Unmarshal(input, &in); err != nil {
		return k, err
	}
	switch {
	case in.Points == nil:
		return k, missing("points")
	case in.Centroids == nil:
		return k, missing("centroids")
	case len(in.Points) == 0:
		return k, errors.New("points: expected at least one row, found none")
	case len(in.Centroids) == 0:
		return k, errors.New("centroids: expected at least one row, found none")
	}
	d := len(in.Points[0])
	if d == 0 {
		return k, errors.New("points[0]: expected at least one number, found none")
	}
	if k.X, err = matrix("points", in.Points, d); err != nil {
		return k, err
	}
	if k.Centroids, err = matrix("centroids", in.Centroids, d); err != nil {
		return k, err
	}
	k.Out, k.Workers = new(float64), workers
	return k, nil
}

// matrix returns the matrix with the given rows, of d numbers each.
func matrix(name string, rows []numbers, d int) (rev.General[float64], error) {
	m := rev.NewGeneral[float64](len(rows), d, nil)
	for i, row := range rows {
		if len(row) != d {
			return m, fmt.Errorf("%s[%d]: expected %d numbers, found %d", name, i, d, len(row))
		}
		copy(m.Row(i), row)
	}
	return m, nil
}
