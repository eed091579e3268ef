package generated

import "math"

// Reprojection stores the weighted error of the place of a point in an image. x has the numbers of the
// camera, the point and the weight. A camera is a rotation, its center, the focal length, the principal
// point and two factors of radial distortion.
//
//revgen:jacobian x rows
func Reprojection(dst, x, feature []float64) {
	y := rotate(vector{x[0], x[1], x[2]}, vector{x[11] - x[3], x[12] - x[4], x[13] - x[5]})
	u, v := y.x/y.z, y.y/y.z
	square := u*u + v*v
	scale := x[6] * (1 + square*(x[9]+square*x[10]))
	w := x[14]
	dst[0] = w * (scale*u + x[7] - feature[0])
	dst[1] = w * (scale*v + x[8] - feature[1])
}

// Residuals stores the errors of all observations: of the places in r, and of the weights in z. The slices have the
// numbers of cameras, points, weights and features one after the other, and camera and point say of what an
// observation is. Each camera is turned once.
func Residuals(r, z, cameras, points, weights, features []float64, camera, point []int) {
	axes := make([][3]vector, len(cameras)/11)
	for i := range axes {
		turn := vector{cameras[11*i], cameras[11*i+1], cameras[11*i+2]}
		axes[i] = [3]vector{rotate(turn, vector{x: 1}), rotate(turn, vector{y: 1}), rotate(turn, vector{z: 1})}
	}
	for i, w := range weights {
		c, p, a := cameras[11*camera[i]:][:11], points[3*point[i]:][:3], &axes[camera[i]]
		d := vector{p[0] - c[3], p[1] - c[4], p[2] - c[5]}
		depth := a[0].z*d.x + a[1].z*d.y + a[2].z*d.z
		u, v := (a[0].x*d.x+a[1].x*d.y+a[2].x*d.z)/depth, (a[0].y*d.x+a[1].y*d.y+a[2].y*d.z)/depth
		square := u*u + v*v
		scale := c[6] * (1 + square*(c[9]+square*c[10]))
		r[2*i] = w * (scale*u + c[7] - features[2*i])
		r[2*i+1] = w * (scale*v + c[8] - features[2*i+1])
		z[i] = WeightError(w)
	}
}

// WeightError is how far the square of a weight is from 1.
//
//revgen:gradient w
func WeightError(w float64) float64 { return 1 - w*w }

type vector struct{ x, y, z float64 }

// rotate turns y about r, by its length.
func rotate(r, y vector) vector {
	cross := vector{r.y*y.z - r.z*y.y, r.z*y.x - r.x*y.z, r.x*y.y - r.y*y.x}
	square := r.x*r.x + r.y*r.y + r.z*r.z
	if square == 0 {
		return vector{y.x + cross.x, y.y + cross.y, y.z + cross.z}
	}
	angle := math.Sqrt(square)
	sin, cos := math.Sincos(angle)
	a := sin / angle
	b := (r.x*y.x + r.y*y.y + r.z*y.z) * (1 - cos) / square
	return vector{cos*y.x + a*cross.x + b*r.x, cos*y.y + a*cross.y + b*r.y, cos*y.z + a*cross.z + b*r.z}
}
