package simd

import "math"

// AffineMax computes x_i = scale·x_i + shift and then top_i = max(top_i, x_i).
func AffineMax[T Float](x, top []T, scale, shift T) {
	for i, v := range x {
		v = T(scale*v) + shift
		x[i] = v
		top[i] = max(top[i], v)
	}
}

// ExpSubSquares computes x_i = exp(x_i - y_i) and then sum_i += x_i².
func ExpSubSquares[T Float](x, y, sum []T) {
	for i, v := range x {
		v = T(math.Exp(float64(v - y[i])))
		x[i] = v
		sum[i] += T(v * v)
	}
}

// CenterScale computes dst[i,p] = (x[i,p] - c[i])·s[p] for i < len(c) and
// p < len(s); row i of dst begins at i*ldd, row i of x at i*ldx.
func CenterScale[T Float](dst []T, ldd int, x []T, ldx int, c, s []T) {
	for i, ci := range c {
		d, r := dst[i*ldd:i*ldd+len(s)], x[i*ldx:i*ldx+len(s)]
		for p, v := range r {
			d[p] = (v - ci) * s[p]
		}
	}
}
