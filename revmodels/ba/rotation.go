package ba

import "math"

// Rotations as matrices, by rows.

// rotationMatrix returns the rotation about w by ‖w‖ radians, by the formula of
// Rodrigues: cos θ·I + sin θ/θ·[w]ₓ + (1-cos θ)/θ²·w·wᵀ.
func rotationMatrix(w [3]float64) [9]float64 {
	theta := math.Hypot(math.Hypot(w[0], w[1]), w[2])
	sin, c := math.Sincos(theta)
	a, b := 1., 0.5 // at θ = 0; the next terms of the series vanish below 1e-8
	if theta > 1e-8 {
		half := math.Sin(theta/2) / theta
		a, b = sin/theta, 2*half*half
	}
	x, y, z := w[0], w[1], w[2]
	return [9]float64{
		c + b*x*x, b*x*y - a*z, b*x*z + a*y,
		b*x*y + a*z, c + b*y*y, b*y*z - a*x,
		b*x*z - a*y, b*y*z + a*x, c + b*z*z,
	}
}

// angleAxis is the inverse of rotationMatrix, with an angle of at most π. It
// goes by the quaternion, of which the component that is largest comes from the
// diagonal and the others from it (Shepperd, Quaternion from rotation matrix,
// 1978), and so is as good near 0 and π as elsewhere.
func angleAxis(r *[9]float64) [3]float64 {
	trace := r[0] + r[4] + r[8]
	var q [4]float64 // 2·(w, x, y, z) times the largest of them
	switch max(trace, r[0], r[4], r[8]) {
	case trace:
		q = [4]float64{1 + trace, r[7] - r[5], r[2] - r[6], r[3] - r[1]}
	case r[0]:
		q = [4]float64{r[7] - r[5], 1 + r[0] - r[4] - r[8], r[1] + r[3], r[2] + r[6]}
	case r[4]:
		q = [4]float64{r[2] - r[6], r[1] + r[3], 1 + r[4] - r[0] - r[8], r[5] + r[7]}
	default:
		q = [4]float64{r[3] - r[1], r[2] + r[6], r[5] + r[7], 1 + r[8] - r[0] - r[4]}
	}
	if q[0] < 0 {
		q = [4]float64{-q[0], -q[1], -q[2], -q[3]}
	}
	// The angle is that between (w, x, y, z) and the first axis, times two: scale
	// does not matter.
	sin := math.Hypot(math.Hypot(q[1], q[2]), q[3])
	scale := 2 / q[0]
	if sin > 1e-8*q[0] {
		scale = 2 * math.Atan2(sin, q[0]) / sin
	}
	return [3]float64{scale * q[1], scale * q[2], scale * q[3]}
}

// apply returns r·x.
func apply(r *[9]float64, x [3]float64) [3]float64 {
	return [3]float64{
		r[0]*x[0] + r[1]*x[1] + r[2]*x[2],
		r[3]*x[0] + r[4]*x[1] + r[5]*x[2],
		r[6]*x[0] + r[7]*x[1] + r[8]*x[2],
	}
}

// applyTransposed returns rᵀ·x.
func applyTransposed(r *[9]float64, x [3]float64) [3]float64 {
	return [3]float64{
		r[0]*x[0] + r[3]*x[1] + r[6]*x[2],
		r[1]*x[0] + r[4]*x[1] + r[7]*x[2],
		r[2]*x[0] + r[5]*x[1] + r[8]*x[2],
	}
}

// multiply returns a·b.
func multiply(a, b [9]float64) (c [9]float64) {
	for i := range 3 {
		for j := range 3 {
			c[3*i+j] = a[3*i]*b[j] + a[3*i+1]*b[3+j] + a[3*i+2]*b[6+j]
		}
	}
	return c
}
