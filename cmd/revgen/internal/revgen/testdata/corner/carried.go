package corner

import "math"

// filter carries a state through a loop in place. It reads each element after its last
// change.
//
//revgen:kernel Filter[T rev.Real]
func filter(out *float64, x, w []float64, a float64) {
	if len(w) != len(x) {
		panic("shape")
	}
	h, c := 0.1, 0.2
	for t := range x {
		b := a * h
		x[t] += b
		if t%2 == 0 {
			x[t] -= w[t] * c
		}
		v := math.Sin(x[t])
		h = math.Tanh(h + v*w[t])
		c = 0.5*c + h*v
	}
	*out += h * c
}

// ahead carries from the first element to the last.
//
//revgen:kernel Ahead[T rev.Real]
func ahead(x []float64) {
	h := 0.1
	for t := 0; t < len(x)-1; t++ {
		h = math.Tanh(h + x[t])
		x[t+1] += h
	}
}

// down carries from the last element to the first.
//
//revgen:kernel Down[T rev.Real]
func down(x []float64) {
	h := 0.1
	for t := len(x) - 2; t >= 0; t-- {
		h = math.Tanh(h - x[t+1])
		x[t] += h
	}
}

// solve solves a triangular system in place, by sums over the elements that are done.
//
//revgen:kernel Solve[T rev.Real]
func solve(x []float64, m [][]float64) {
	if len(m) != len(x) || len(m[0]) != len(x) {
		panic("shape")
	}
	for i := range x {
		s := 0.0
		for j := range i {
			s += m[i][j] * x[j]
		}
		x[i] -= s
	}
}

// kept has a branch whose locals are kept for the backward pass. One of them begins as an
// element, and is carried then.
//
//revgen:kernel Kept[T rev.Real]
func kept(y, x []float64, n int) {
	if len(y) != len(x) {
		panic("shape")
	}
	for i := range x {
		if n > 0 {
			h := x[0]
			for j := range x {
				h = math.Sin(h + x[j])
				y[i] += h * math.Tanh(x[j])
			}
			g := x[i]
			for j := range x {
				y[j] += g * math.Sin(x[0])
				g = math.Sin(g + x[j])
			}
		}
		y[0] += x[i] * x[i]
	}
}

const never = false

// folded carries a local that only a branch which is never taken changes.
//
//revgen:kernel Folded[T rev.Real]
func folded(y, x []float64) {
	if len(y) != len(x) {
		panic("shape")
	}
	c := math.Cos(x[0])
	for range x {
		for j := range x {
			y[j] += math.Sin(c + x[j])
			if never {
				c *= 3
			}
		}
	}
}

// orbit follows a body around another one for n steps, and adds up how far its path is
// from the given one. A step needs the state of the step before.
//
//revgen:kernel Orbit[T rev.Real]
//revgen:snapshots 5
func orbit(loss *float64, x0, v0, path []float64, h float64, n int) {
	if len(x0) != 2 || len(v0) != 2 || len(path) != 2 {
		panic("shape")
	}
	x, v := [2]float64{x0[0], x0[1]}, [2]float64{v0[0], v0[1]}
	sum := 0.0
	for t := range n {
		r := 0.5 + x[0]*x[0] + x[1]*x[1]
		a := h / (r * math.Sqrt(r))
		for d := range 2 {
			v[d] -= a * x[d]
			x[d] += h * v[d]
		}
		if t%3 == 0 {
			sum += (x[0]-path[0])*(x[0]-path[0]) + (x[1]-path[1])*(x[1]-path[1])
		}
	}
	*loss += sum
}

// powers adds a series to x, of which y gets another one. All that a series computes
// depends on one number.
//
//revgen:kernel Powers[T rev.Real]
func powers(x, w, y []float64) {
	if len(w) != len(x) || len(y) != len(x) {
		panic("shape")
	}
	for i := range x {
		x[i] += series(w[i])
		y[i] += series(x[i])
		x[i] = -x[i]
	}
}

// series is the sum of (v/4)ᵏ/k.
func series(v float64) float64 {
	s, p := 0.0, 1.0
	for k := 1; k < 9; k++ {
		p *= math.Tanh(v) / 4
		s += p / float64(k)
	}
	return s
}

// sparing has loops in place, down, with a condition and within loops, that keep a few
// states.
//
//revgen:kernel Sparing[T rev.Real]
//revgen:snapshots most
func sparing(x, w []float64, y *float64, most int) {
	if len(w) != len(x) {
		panic("shape")
	}
	_ = most // which only the tapes need
	h, c := 0.1, 0.2
	for t := len(x) - 1; t >= 0; t-- {
		x[t] += 0.5 * h
		g := h
		for s := 1; s <= t; s++ {
			g = math.Sin(g + w[s])
		}
		h = math.Tanh(g + x[t]*w[t])
		c = 0.5*c + h
	}
	for k := 0; k < 9 && c > 0.3; k++ {
		c *= 0.9 + 0.05*math.Cos(h*c)
	}
	*y += c
}

// nested changes operands in a loop in a loop, both of which carry a local.
//
//revgen:kernel Nested[T rev.Real]
func nested(x, v []float64, a float64) {
	if len(v) != len(x) {
		panic("shape")
	}
	h := math.Cos(a)
	for range 3 {
		for i := range x {
			v[i] += 0.5 * math.Sin(x[i])
		}
		for i := range x {
			x[i] -= 0.25 * math.Sin(v[i]+h)
			h = math.Sin(h + a)
		}
	}
}
