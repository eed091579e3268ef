package ba

import (
	"math"

	"revnum/internal/objective"
)

// Method is how the reduced camera system is solved.
type Method int

const (
	// Automatic is Cholesky, unless that is likely to take much more time than
	// ConjugateGradients, or its matrices more than 1 GiB each.
	Automatic Method = iota
	// Cholesky forms the system and factors it, with an order of the cameras
	// that keeps the factor sparse.
	Cholesky
	// ConjugateGradients solves the system approximately without forming it. It takes
	// little memory, but more iterations.
	ConjugateGradients
)

var methodNames = [...]string{"automatic", "Cholesky", "conjugate gradients"}

// String returns the name of the method in words.
func (m Method) String() string { return objective.Name(m, methodNames[:]) }

// cameraSolver solves the reduced camera system.
type cameraSolver interface {
	// system returns the matrix that solve factors, or nil if it does without.
	system() *reducedSystem

	// solve stores in s.move a step of the unknowns of cameras for their damping, and
	// reports whether it found one. It may end early if s.stopped says so.
	solve(s *solver) (iterations int, ok bool)

	// describe stores its method and its results in a report.
	describe(r *Report)
}

const (
	// autoElements is the largest number of elements of a matrix that Automatic makes.
	autoElements = 1 << 27
	// Up to autoFlops operations for each observation, Automatic takes Cholesky.
	// Conjugate gradients take some hundred iterations of a hundred operations, each
	// five to ten times as slow.
	autoFlops = 2e5
)

// newLinear returns the solver for the options. If the points are elsewhere, Automatic is
// ConjugateGradients.
func newLinear(s *solver) cameraSolver {
	if o := s.opts; o.Method == Cholesky || o.Method == Automatic && s.local != nil {
		limit := math.MaxInt
		if o.Method == Automatic {
			limit = autoElements
		}
		d := newDirect(s.normal, s.unknowns, limit)
		if d != nil && (o.Method == Cholesky || d.flops(s.normal) <= autoFlops*float64(len(s.normal.camera))) {
			return d
		}
	}
	return newConjugate(s.unknowns)
}
