package generated

import "math"

const (
	particleStep = 0.1
	maxFlight    = 1 << 20 // steps after which a particle is lost
)

// A dual is a number with its derivative in a direction.
type dual struct{ v, d float64 }

// flight adds x_f² to out, where x_f is where a particle meets the first axis. It flies
// past charges at (10, 10-w) and (10, 0), whose potential is Σ 1/‖x - c‖. It starts from
// (0, 8) with the velocity (0.75, 0) and takes Euler's steps. reverse selects how the
// gradient of the potential is computed. If the particle is lost, the result is NaN.
//
//revgen:kernel Flight[T rev.Real]
func flight(out *float64, w float64, reverse bool) {
	x, y, vx, vy := 0.0, 8.0, 0.75, 0.0
	ux, uy := vx, vy // the velocity of the last step
	for n := 0; y > 0 && n < maxFlight; n++ {
		ax, ay := slope(x-10, y-(10-w), reverse)
		bx, by := slope(x-10, y, reverse)
		x += particleStep * vx
		y += particleStep * vy
		ux, uy = vx, vy
		vx -= particleStep * (ax + bx)
		vy -= particleStep * (ay + by)
	}
	end := x - y*ux/uy
	if y > 0 {
		end = math.Sqrt(-y)
	}
	*out += end * end
}

// slope returns the gradient of 1/√(x² + y²).
func slope(x, y float64, reverse bool) (float64, float64) {
	if reverse {
		r := math.Sqrt(x*x + y*y)
		bar := -1 / (r * r) // the cotangent of r
		return bar * x / r, bar * y / r
	}
	byX := potential(dual{x, 1}, dual{y, 0})
	byY := potential(dual{x, 0}, dual{y, 1})
	return byX.d, byY.d
}

// potential returns 1/√(x² + y²).
func potential(x, y dual) dual {
	r := math.Sqrt(x.v*x.v + y.v*y.v)
	d := (x.v*x.d + y.v*y.d) / r
	return dual{1 / r, -d / (r * r)}
}
