package ba

import (
	"fmt"
	"math"
)

// Method is how the reduced camera system is solved.
type Method int

const (
	// Automatic is Cholesky, unless that takes much more time than
	// ConjugateGradients are likely to, or its matrices more than 1 GiB each.
	Automatic Method = iota
	// Cholesky forms the system and factors it, with an order of the cameras
	// that keeps the factor sparse.
	Cholesky
	// ConjugateGradients solves the system approximately and forms nothing:
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
	// solve stores a step of the unknowns of cameras for their damping, and
	// reports whether it found one. It may end early if stopped says so.
	solve(s *normal, damping, step []float64, stopped func() bool) (iterations int, ok bool)

	// forms reports whether it needs G.
	forms() bool

	// describe stores its method in a report, and what else it has to say.
	describe(r *Report)
}

const (
	// autoElements is the most elements of a matrix that Automatic makes.
	autoElements = 1 << 27
	// autoFlops is how many operations an observation Automatic takes Cholesky
	// for: conjugate gradients take some hundred iterations of a hundred
	// operations, which are five to ten times slower.
	autoFlops = 2e5
)

// newLinear returns the solver that the options ask for.
func newLinear(s *normal, x *unknowns, o *Options) linear {
	if o.Method != ConjugateGradients {
		limit := math.MaxInt
		if o.Method == Automatic {
			limit = autoElements
		}
		d := newDirect(s, x, limit)
		if d != nil && (o.Method == Cholesky || d.flops(s) <= autoFlops*float64(len(s.camera))) {
			return d
		}
	}
	return newConjugate(newLocalSchur(s), x, o)
}
