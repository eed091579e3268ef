package generated

const (
	short       = 1e-5 * 1e-5 // the square of the length at which a descent ends
	maxDescents = 1 << 20
)

// highest adds to out the maximum over q of f(p, q) = ‖p‖² - ‖q‖². It finds q from start
// by the gradient descent of GradBench, with steps that double and halve. reverse selects
// how the gradient of -f by q is computed.
//
//revgen:kernel Highest[T rev.Real]
func highest(out *float64, p, start []float64, reverse bool) {
	if len(p) != 2 || len(start) != 2 {
		panic("shape")
	}
	x, y, eta := start[0], start[1], 1e-5
	value := negated(p, dual{x, 0}, dual{y, 0})
	gx, gy := ascent(p, x, y, reverse)
	moving, accepted := 1.0, 0.0 // revgen has no bools and ints that change in a loop
	for n := 0; moving > 0 && gx*gx+gy*gy > short && n < maxDescents; n++ {
		if accepted == 10 {
			eta *= 2
			accepted = 0
			continue
		}
		dx, dy := eta*gx, eta*gy
		if dx*dx+dy*dy <= short {
			moving = 0
			continue
		}
		next := negated(p, dual{x - dx, 0}, dual{y - dy, 0})
		if next.v < value.v {
			x -= dx
			y -= dy
			value = next
			gx, gy = ascent(p, x, y, reverse)
			accepted += 1
		} else {
			eta /= 2
			accepted = 0
		}
	}
	*out -= value.v
}

// ascent returns the gradient of -f(p, q) by q = (x, y).
func ascent(p []float64, x, y float64, reverse bool) (float64, float64) {
	if reverse {
		return 2 * x, 2 * y
	}
	byX := negated(p, dual{x, 1}, dual{y, 0})
	byY := negated(p, dual{x, 0}, dual{y, 1})
	return byX.d, byY.d
}

// negated returns -f(p, q) for q = (x, y).
func negated(p []float64, x, y dual) dual {
	return dual{x.v*x.v + y.v*y.v - p[0]*p[0] - p[1]*p[1], 2 * (x.v*x.d + y.v*y.d)}
}
