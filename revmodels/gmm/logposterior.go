package gmm

import (
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// Sign says which sign the Wishart prior enters the log posterior with.
type Sign int

const (
	// GradBench adds the log density of the prior, as Bayes' rule says.
	GradBench Sign = iota
	// ADBench subtracts it, as the published benchmark does by mistake.
	ADBench
)

// Prior is the Wishart prior on the precision matrices, with scale matrix
// I/γ² and D+M+1 degrees of freedom. The zero Prior is no prior at all: the
// log posterior is then the log-likelihood.
type Prior struct {
	Gamma float64
	M     int
	Sign  Sign
}

// LogPosterior is the kernel Out += log posterior of a Gaussian mixture.
type LogPosterior[T rev.Float] struct {
	Out     *T             `rev:"acc"` // the log posterior
	Alpha   rev.Vector[T]  `rev:"in"`  // K log weights, not normalised
	Means   rev.General[T] `rev:"in"`  // K×D
	Factors rev.General[T] `rev:"in"`  // K×D(D+1)/2: D log-diagonal entries, then the strictly lower triangle column by column
	X       rev.General[T] `rev:"in"`  // N×D, a point a row
	Prior   Prior
	Workers int // 0 means GOMAXPROCS
}

// NewLogPosterior returns the kernel over gonum types, sharing their storage.
func NewLogPosterior(out *float64, alpha *mat.VecDense, means, factors, x *mat.Dense, prior Prior) LogPosterior[float64] {
	return LogPosterior[float64]{
		Out: out, Alpha: rev.ViewVec(alpha), Means: rev.ViewDense(means),
		Factors: rev.ViewDense(factors), X: rev.ViewDense(x), Prior: prior,
	}
}
