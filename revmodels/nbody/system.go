package nbody

import (
	"errors"
	"fmt"
	"math"

	"revnum/fixed"
	"revnum/rev"
)

// A Body is a point with a mass.
type Body struct {
	Name string
	Q, V [3]float64 // position, velocity
	Mu   float64    // mass times the constant of gravitation
}

// A System is the state of bodies, for programs of package rev. Row i of Q and V is body
// i.
type System[T rev.Real] struct {
	Q, V rev.General[T] // n×3: positions and velocities
	Mu   rev.Vector[T]  // masses times the constant of gravitation
}

// NewSystem returns the state of the bodies.
func NewSystem[T rev.Real](bodies []Body) *System[T] {
	n := len(bodies)
	s := &System[T]{rev.NewGeneral[T](n, 3, nil), rev.NewGeneral[T](n, 3, nil), rev.ViewSlice(make([]T, n))}
	for i, b := range bodies {
		for c := range 3 {
			s.Q.Data[3*i+c], s.V.Data[3*i+c] = fixed.Of[T](b.Q[c]), fixed.Of[T](b.V[c])
		}
		s.Mu.Data[i] = fixed.Of[T](b.Mu)
	}
	return s
}

// errParameter is the error of an invalid step of time or softening length.
var errParameter = errors.New("nbody: Dt must be finite, and Softening finite and not negative")

func checkParameters(dt, softening float64) error {
	if dt-dt != 0 || !(softening >= 0) || math.IsInf(softening, 1) {
		return fmt.Errorf("%w, found %v and %v", errParameter, dt, softening)
	}
	return nil
}
