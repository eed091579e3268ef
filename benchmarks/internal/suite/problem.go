package suite

import (
	"math"
	"math/rand/v2"
)

// Problem is one case of the suite. New draws its data, so that no more than
// one problem is in memory at a time.
type Problem struct {
	Family string // the model or kernel
	Sizes  string // for people
	Series string // problems of a series are joined by a line in figures
	Params int    // the number of parameters of J; 0 if there is no J

	// Flops of one call of F and of J, and the bytes that F moves if they limit its
	// speed.
	FlopsF, FlopsJ, BytesF float64

	Single  bool  // float32
	Workers []int // the numbers of workers to measure with, the first of them 1

	New func() (*Instance, error)
}

// Name returns the problem's name, unique in the suite.
func (p *Problem) Name() string { return p.Family + " " + p.Sizes }

// Instance is a problem with its data.
type Instance struct {
	F func() // computes the objective
	J func() // computes the objective and its gradient; may be nil

	SetWorkers func(workers int) // may be nil

	// Result returns all numbers that F and J computed, in float64, to be
	// compared between numbers of workers.
	Result func() []float64

	// Derivative returns the relative error of J, RoundTrip that of Inverse
	// after Forward. Either may be nil.
	Derivative func() float64
	RoundTrip  func() float64

	// Against, if not nil, is what F is compared with. It comes with a name.
	Against     func()
	AgainstName string
}

// directions is how many directions the gradient of a problem of n points is
// checked along. Each takes sixteen values.
func directions(n int) int {
	if n >= 1e6 {
		return 1
	}
	return 2
}

// CentralDifferences compares the gradient g of a function with central
// differences of fourth order along random directions, and returns the largest
// error relative to max(1, |a|+|b|) of the two. It restores x. The parameters
// and the gradient may be in several parts.
//
// Each quotient is computed with a long step, which has more truncation error, and with
// a short one, which has more rounding error. The better of the two counts.
func CentralDifferences(value func() float64, x, g [][]float64, count int) float64 {
	rnd := rand.New(rand.NewPCG(17, 0))
	start, v := make([][]float64, len(x)), make([][]float64, len(x))
	for i, part := range x {
		start[i] = append([]float64(nil), part...)
		v[i] = make([]float64, len(part))
	}
	at := func(h float64) float64 {
		for i := range x {
			for j := range x[i] {
				x[i][j] = start[i][j] + h*v[i][j]
			}
		}
		return value()
	}
	worst := 0.0
	for range count {
		var norm, slope float64
		for i := range v {
			for j := range v[i] {
				v[i][j] = rnd.NormFloat64()
				norm += v[i][j] * v[i][j]
			}
		}
		for i := range v {
			for j := range v[i] {
				v[i][j] /= math.Sqrt(norm)
				slope += v[i][j] * g[i][j]
			}
		}
		best := math.Inf(1)
		for _, h := range []float64{1e-2, 1e-3} {
			quotient := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
			best = min(best, math.Abs(quotient-slope)/max(1, math.Abs(quotient)+math.Abs(slope)))
		}
		worst = max(worst, best) // NaN if any is
	}
	for i := range x {
		copy(x[i], start[i])
	}
	return worst
}
