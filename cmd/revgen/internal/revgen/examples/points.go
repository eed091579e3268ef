package examples

// Points are measurements Y at times T.
type Points struct{ T, Y []float64 }

// Distance returns how far the curve a·exp(-b·t)·cos(c·t) + d is from the points. Points that
// are far away count less than by their squares.
//
//revgen:gradient p hessian
func (d *Points) Distance(p []float64) float64 {
	sum := 0.0
	for i, t := range d.T {
		sum += robust(curve(p, t)-d.Y[i], 0.5)
	}
	return sum
}
