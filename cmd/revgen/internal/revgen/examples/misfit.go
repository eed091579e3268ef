package examples

import "math"

// misfit adds to loss how far the curve a·exp(-b·t)·cos(c·t) + d is from the points
// (t, y). Points that are far away count less than by their squares.
//
//revgen:kernel Misfit[T rev.Real]
func misfit(loss *float64, p, t, y []float64) {
	if len(p) != 4 || len(t) != len(y) {
		panic("shape")
	}
	sum := 0.0
	for i, ti := range t {
		r := curve(p, ti) - y[i]
		sum += robust(r, 0.5)
	}
	*loss += sum
}

func curve(p []float64, t float64) float64 {
	return p[0]*math.Exp(-p[1]*t)*math.Cos(p[2]*t) + p[3]
}

// robust is r²/2 for small r, and grows as |r| beyond the bound.
func robust(r, bound float64) float64 {
	if math.Abs(r) < bound {
		return r * r / 2
	}
	return bound * (math.Abs(r) - bound/2)
}
