package generated

import "math"

// Reprojection stores the weighted error of the place of a point in an image. x has the numbers of the
// camera, the point and the weight. A camera is a rotation, its center, the focal length, the principal
// point and two factors of radial distortion.
//
//revgen:jacobian x
func Reprojection(dst, x, feature []float64) {
	y := rotate([3]float64(x), [3]float64{x[11] - x[3], x[12] - x[4], x[13] - x[5]})
	u, v := y[0]/y[2], y[1]/y[2]
	square := u*u + v*v
	scale := x[6] * (1 + square*(x[9]+square*x[10]))
	w := x[14]
	dst[0] = w * (scale*u + x[7] - feature[0])
	dst[1] = w * (scale*v + x[8] - feature[1])
}

// WeightError is how far the square of a weight is from 1.
//
//revgen:gradient w
func WeightError(w float64) float64 { return 1 - w*w }

// rotate turns y about r, by its length.
func rotate(r, y [3]float64) [3]float64 {
	cross := [3]float64{r[1]*y[2] - r[2]*y[1], r[2]*y[0] - r[0]*y[2], r[0]*y[1] - r[1]*y[0]}
	square := r[0]*r[0] + r[1]*r[1] + r[2]*r[2]
	if square == 0 {
		return [3]float64{y[0] + cross[0], y[1] + cross[1], y[2] + cross[2]}
	}
	angle := math.Sqrt(square)
	sin, cos := math.Sincos(angle)
	a := sin / angle
	b := (r[0]*y[0] + r[1]*y[1] + r[2]*y[2]) * (1 - cos) / square
	return [3]float64{cos*y[0] + a*cross[0] + b*r[0], cos*y[1] + a*cross[1] + b*r[1], cos*y[2] + a*cross[2] + b*r[2]}
}
