package ba

import "gonum.org/v1/gonum/floats"

// A side holds the points and observations of a problem. The solver holds the cameras, both
// the best ones and those of the trial.
type side interface {
	// cost returns the cost of the best cameras and points, or that of the trial.
	cost(trial bool) float64

	// linearise sets the blocks u and the gradient gc of solver.normal at the best cameras
	// and points. It returns the largest element of the gradient by points.
	linearise() float64

	// hold makes the derivatives by the focal length zero, for the cameras with the number 1.
	hold(cameras []float64)

	// scale sets the scales of the columns of the points.
	scale()

	// eliminate eliminates the points with the damping of a radius, and computes the
	// reduced camera system unless it is nil. It reports whether that is possible.
	eliminate(radius float64, system *reduced) bool

	// step sets the points of the trial, given the steps of all cameras. It returns by how
	// much the model lowers the cost, and the length of the step of the points.
	step(cameras []float64) (promised, length float64)

	// swap exchanges the trial points and the best points.
	swap()

	// resume makes the points of an earlier solution the best.
	resume()

	// length returns the length of the vector of the best points.
	length() float64
}

// here is the side of a solver that has all points itself.
type here struct{ *solver }

func (s here) cost(trial bool) float64 {
	if trial {
		return s.normal.cost(s.trial)
	}
	return s.normal.cost(s.best)
}

func (s here) linearise() float64 {
	s.normal.linearise(s.best)
	return largest(s.normal.gq)
}

func (s here) hold(cameras []float64) {
	for c, held := range cameras {
		if held == 1 {
			s.normal.hold(c, focal)
		}
	}
}

func (s here) scale() {
	s.normal.pointDiagonal(s.scaleQ)
	toScales(s.scaleQ)
}

func (s here) eliminate(radius float64, system *reduced) bool {
	s.normal.pointDiagonal(s.dampingQ)
	damp(s.dampingQ, s.scaleQ, radius)
	ok := s.normal.eliminate(s.dampingQ, system != nil)
	if ok && system != nil {
		system.form(s.normal)
	}
	return ok
}

func (s here) step(cameras []float64) (promised, length float64) {
	promised = s.normal.points(s.stepQ, cameras)
	floats.AddTo(s.trial.Points, s.best.Points, s.stepQ)
	return promised, floats.Norm(s.stepQ, 2)
}

func (s here) swap()           {}
func (s here) resume()         {} // Solve does not resume
func (s here) length() float64 { return floats.Norm(s.best.Points, 2) }
