package bundle

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"revnum/rev"
	"revnum/revmodels/ba"
)

// Errors are the reprojection errors of a problem's observations, in pixels and in
// ascending order.
type Errors []float64

// ErrorsOf returns the reprojection errors of p. A point at depth zero has an error
// that is NaN, which comes first, or infinite, which comes last.
func ErrorsOf(p *ba.Problem) Errors {
	n := p.NumObservations()
	r := make([]float64, 2*n)
	k := p.Kernel()
	k.R = rev.Vector[float64]{N: 2 * n, Inc: 1, Data: r}
	_ = k.Forward()
	e := make(Errors, n)
	for i := range e {
		e[i] = math.Hypot(r[2*i], r[2*i+1])
	}
	slices.Sort(e)
	return e
}

// RMS returns the root mean square error per observation.
func (e Errors) RMS() float64 {
	return floats.Norm(e, 2) / math.Sqrt(float64(max(1, len(e))))
}

// Quantile returns the error that a fraction q of the observations does not exceed.
func (e Errors) Quantile(q float64) float64 {
	if len(e) == 0 {
		return 0
	}
	return stat.Quantile(q, stat.Empirical, e, nil)
}
