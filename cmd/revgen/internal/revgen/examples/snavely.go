package examples

import "math"

// snavely is the kernel R += π(c, X) - x of reprojection errors: the residuals
// of bundle adjustment, with cameras of 9 parameters.
//
//revgen:kernel Snavely[T rev.Real]
func snavely(r []float64, cameras, points, features [][]float64, camera, point []int) {
	if len(r) != 2*len(features) || len(camera) != len(features) || len(point) != len(features) ||
		len(cameras[0]) != 9 || len(points[0]) != 3 || len(features[0]) != 2 {
		panic("shape")
	}
	for i := range features {
		c, x := cameras[camera[i]], points[point[i]]
		// y = R·X + t, R·X = cos θ·X + a·r×X + b·(r·X)·r
		s := c[0]*c[0] + c[1]*c[1] + c[2]*c[2]
		var cos, a, b float64
		if s > 1e-6 {
			theta := math.Sqrt(s)
			sn, cs := math.Sincos(theta)
			cos, a, b = cs, sn/theta, (1-cs)/s
		} else {
			cos, a, b = 1-s/2, 1-s/6, 0.5-s/24
		}
		d := b * (c[0]*x[0] + c[1]*x[1] + c[2]*x[2])
		y0 := cos*x[0] + a*(c[1]*x[2]-c[2]*x[1]) + d*c[0] + c[3]
		y1 := cos*x[1] + a*(c[2]*x[0]-c[0]*x[2]) + d*c[1] + c[4]
		y2 := cos*x[2] + a*(c[0]*x[1]-c[1]*x[0]) + d*c[2] + c[5]
		u, v := -y0/y2, -y1/y2
		q := u*u + v*v
		f := c[6] * (1 + q*(c[7]+q*c[8]))
		r[2*i] += f*u - features[i][0]
		r[2*i+1] += f*v - features[i][1]
	}
}
