package generated

import "math"

// potential is that of charges at (10, 10-w) and (10, 0).
//
//revgen:gradient x
func potential(x []float64, w float64) float64 {
	return 1/math.Sqrt((x[0]-10)*(x[0]-10)+(x[1]-10+w)*(x[1]-10+w)) + 1/math.Sqrt((x[0]-10)*(x[0]-10)+x[1]*x[1])
}

// Potentials is potential, for derivatives along directions.
//
//revgen:jacobian x jvp
func Potentials(dst, x []float64, w float64) { dst[0] = potential(x, w) }

// crossing returns the square of where a particle crosses the axis, by Euler's method. slope computes
// the gradient of the potential.
func crossing(slope func(g, x []float64)) float64 {
	const dt = 0.1
	x, v, g := []float64{0, 8}, []float64{0.75, 0}, make([]float64, 2)
	for {
		slope(g, x)
		x[0] += dt * v[0]
		x[1] += dt * v[1]
		if x[1] <= 0 {
			end := x[0] - x[1]/v[1]*v[0]
			return end * end
		}
		v[0] -= dt * g[0]
		v[1] -= dt * g[1]
	}
}

// CrossingR computes the gradient of the potential in reverse.
//
//revgen:gradient w value
func CrossingR(w []float64) float64 {
	return crossing(func(g, x []float64) { potentialGradient(g, x, w[0]) })
}

// CrossingF computes the gradient of the potential forward, along both axes.
//
//revgen:gradient w value
func CrossingF(w []float64) float64 {
	d, right, up := make([]float64, 1), []float64{1, 0}, []float64{0, 1}
	return crossing(func(g, x []float64) {
		PotentialsJVP(d, x, right, w[0])
		g[0] = d[0]
		PotentialsJVP(d, x, up, w[0])
		g[1] = d[0]
	})
}

// CrossingsR is CrossingR, for derivatives along a direction.
//
//revgen:jacobian w jvp
func CrossingsR(dst, w []float64) { dst[0] = CrossingR(w) }

// CrossingsF is CrossingF, for derivatives along a direction.
//
//revgen:jacobian w jvp
func CrossingsF(dst, w []float64) { dst[0] = CrossingF(w) }
