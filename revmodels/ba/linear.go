package ba

import (
	"fmt"
	"math"
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
func (m Method) String() string {
	if m < 0 || int(m) >= len(methodNames) {
		return fmt.Sprintf("Method(%d)", int(m))
	}
	return methodNames[m]
}

// linear solves the reduced camera system.
type linear interface {
	// system returns the matrix that solve factors, or nil if it does without.
	system() *reduced

	// solve stores a step of the unknowns of cameras for their damping, and reports
	// whether it found one. It may end early if stopped says so.
	solve(s *normal, damping, step []float64, stopped func() bool) (iterations int, ok bool)

	// describe stores its method and what it has to report.
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

// newLinear returns the solver for the options. Conjugate gradients use the given products if
// they are not nil, and Automatic is then ConjugateGradients.
func newLinear(s *normal, products schur, x *unknowns, o *Options) linear {
	if o.Method == Cholesky || o.Method == Automatic && products == nil {
		limit := math.MaxInt
		if o.Method == Automatic {
			limit = autoElements
		}
		d := newDirect(s, x, limit)
		if d != nil && (o.Method == Cholesky || d.flops(s) <= autoFlops*float64(len(s.camera))) {
			return d
		}
	}
	if products == nil {
		products = newLocalSchur(s)
	}
	return newConjugate(products, x, o)
}
