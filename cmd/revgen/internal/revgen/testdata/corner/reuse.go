package corner

import trig "math"

// begun has sums that begin as the value of a function or as a quotient. The
// derivatives of these need the value with which the sum began.
//
//revgen:kernel Begun[T rev.Real]
func begun(y, x []float64) {
	if len(y) != 2 || len(x) != 3 {
		panic("shape")
	}
	s, t, u := trig.Exp(x[0]), x[1]/(2+x[2]*x[2]), trig.Tanh(x[1])
	for i, v := range x {
		s += v * v
		if i == 1 {
			t -= v
		}
	}
	if x[0] > 0 {
		u = s
	}
	y[0] += s * t
	y[1] += u * t
}

// copied runs over an array that it changes: Go runs over a copy.
//
//revgen:kernel Copied[T rev.Real]
func copied(y, x []float64) {
	if len(y) != 3 || len(x) != 3 {
		panic("shape")
	}
	a := [...]float64{x[0], x[1], x[2]}
	for i, v := range a {
		a[(i+1)%3] += v * a[i]
		y[i] += a[2] * v
	}
	pairs := [2]planar{{x[0], x[1]}, {x[2], a[0]}}
	for i, p := range pairs {
		pairs[1] = planar{p.y, p.x}
		p.x *= 2
		y[i] += p.x * pairs[1].y * p.y
	}
}

// placed has a branch with two results. The backward pass finds one of them only when x is as
// it was, and with it the other.
//
//revgen:kernel Placed[T rev.Real]
func placed(y, x, v []float64) {
	if len(y) != 1 || len(x) != 2 || len(v) != 2 {
		panic("shape")
	}
	p, q := x[0], 0.75
	if v[1] > 0 {
		p, q = p*v[1], q*v[1]
	} else {
		p, q = v[1]-p, q+v[1]
	}
	r := q
	v[0] -= r
	y[0] += p * p
	x[0], x[1] = x[1], x[0]
}
