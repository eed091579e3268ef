package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/simd"
	"revnum/rev"
)

// elements returns elements lo, ..., lo+n-1 of x: the storage of x itself if it
// has no gaps, else a copy in buf.
func elements[T rev.Float](buf []T, x rev.Vector[T], lo, n int) []T {
	if x.Inc == 1 {
		return x.Data[lo : lo+n]
	}
	buf = buf[:n]
	for i := range buf {
		buf[i] = x.Data[(lo+i)*x.Inc]
	}
	return buf
}

// addElements computes y_{lo+i} += alpha·d_i.
func addElements[T rev.Float](y rev.Vector[T], lo int, alpha T, d []T) {
	if y.Inc == 1 {
		simd.Axpy(alpha, d, y.Data[lo:lo+len(d)])
		return
	}
	for i, v := range d {
		y.Data[(lo+i)*y.Inc] += T(alpha * v)
	}
}

// dot returns Σ x_i·y_i, in fixed point rounded once.
func dot[T rev.Real](x, y rev.Vector[T]) T {
	if x.N == 0 {
		return 0
	}
	if x.Inc == 1 && y.Inc == 1 {
		switch xs := any(x.Data[:x.N]).(type) {
		case []float64:
			return T(simd.Dot(xs, any(y.Data[:y.N]).([]float64)))
		case []float32:
			return T(simd.Dot(xs, any(y.Data[:y.N]).([]float32)))
		case []fixed.Q43:
			return T(fixed.Dot(xs, any(y.Data[:y.N]).([]fixed.Q43)))
		}
	}
	if T(1)/2 == 0 {
		var s fixed.Accumulator
		for i := range x.N {
			s.AddMul(fixed.Q43(x.Data[i*x.Inc]), fixed.Q43(y.Data[i*y.Inc]))
		}
		return T(s.Round())
	}
	var s T
	for i := range x.N {
		s += T(x.Data[i*x.Inc] * y.Data[i*y.Inc])
	}
	return s
}

// axpy computes y += alpha·x.
func axpy[T rev.Real](alpha T, x, y rev.Vector[T]) {
	if x.N == 0 {
		return
	}
	if x.Inc == 1 && y.Inc == 1 {
		switch xs := any(x.Data[:x.N]).(type) {
		case []float64:
			simd.Axpy(float64(alpha), xs, any(y.Data[:y.N]).([]float64))
			return
		case []float32:
			simd.Axpy(float32(alpha), xs, any(y.Data[:y.N]).([]float32))
			return
		}
	}
	for i := range x.N {
		y.Data[i*y.Inc] += fixed.Product(alpha, x.Data[i*x.Inc])
	}
}
