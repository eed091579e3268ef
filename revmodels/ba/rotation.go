package ba

import "math"

// Rotations as matrices, by rows.

// rotationMatrix returns the rotation about w by ‖w‖ radians.
func rotationMatrix(w [3]float64) [9]float64 {
	q := newCoefficients(squareNorm(w[:]))
	return rodrigues(q.a, q.b, w)
}

// angleAxis is the inverse of rotationMatrix, with an angle of at most π. It computes
// the quaternion: its largest component from the diagonal, and the others from that
// (Shepperd, Quaternion from rotation matrix, 1978). It is therefore as accurate near 0
// and π as elsewhere.
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
	// The angle is twice that between (w, x, y, z) and the first axis, so the scale
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
		float64(r[0]*x[0]) + float64(r[1]*x[1]) + float64(r[2]*x[2]),
		float64(r[3]*x[0]) + float64(r[4]*x[1]) + float64(r[5]*x[2]),
		float64(r[6]*x[0]) + float64(r[7]*x[1]) + float64(r[8]*x[2]),
	}
}

// applyTransposed returns rᵀ·x.
func applyTransposed(r *[9]float64, x [3]float64) [3]float64 {
	return [3]float64{
		float64(r[0]*x[0]) + float64(r[3]*x[1]) + float64(r[6]*x[2]),
		float64(r[1]*x[0]) + float64(r[4]*x[1]) + float64(r[7]*x[2]),
		float64(r[2]*x[0]) + float64(r[5]*x[1]) + float64(r[8]*x[2]),
	}
}

// multiply returns a·b.
func multiply(a, b [9]float64) (c [9]float64) {
	for i := range 3 {
		for j := range 3 {
			c[3*i+j] = float64(a[3*i]*b[j]) + float64(a[3*i+1]*b[3+j]) + float64(a[3*i+2]*b[6+j])
		}
	}
	return c
}
