package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
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
		vec.Axpy(alpha, d, y.Data[lo:lo+len(d)])
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
			return T(vec.Dot(xs, any(y.Data[:y.N]).([]float64)))
		case []float32:
			return T(vec.Dot(xs, any(y.Data[:y.N]).([]float32)))
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
			vec.Axpy(float64(alpha), xs, any(y.Data[:y.N]).([]float64))
			return
		case []float32:
			vec.Axpy(float32(alpha), xs, any(y.Data[:y.N]).([]float32))
			return
		}
	}
	for i := range x.N {
		y.Data[i*y.Inc] += fixed.Product(alpha, x.Data[i*x.Inc])
	}
}

// addSigned computes y += sign·x.
func addSigned[T rev.Real](sign int, x, y rev.Vector[T]) {
	if sign < 0 {
		axmy(fixed.Of[T](1), x, y)
	} else {
		axpy(fixed.Of[T](1), x, y)
	}
}

// addProduct computes y += sign·A·x. In fixed point an element of A·x is rounded
// once.
func addProduct[T rev.Real](sign int, a rev.General[T], x, y rev.Vector[T]) {
	if floatGemm(sign, view(a, false), view(asColumn(x), false), asColumn(y)) {
		return
	}
	for i := range y.N {
		y.Data[i*y.Inc] += T(sign) * dot(row(a, i), x)
	}
}

// addTransposedProduct computes x += Aᵀ·y. In fixed point each product is rounded.
func addTransposedProduct[T rev.Real](a rev.General[T], y, x rev.Vector[T]) {
	if floatGemm(1, view(a, true), view(asColumn(y), false), asColumn(x)) {
		return
	}
	for i := range y.N {
		axpy(y.Data[i*y.Inc], row(a, i), x)
	}
}

// addOuter computes A += x·yᵀ. Short rows are done several at a time, as calls for
// each would take longer than the work.
func addOuter[T rev.Real](x, y rev.Vector[T], a rev.General[T]) {
	if y.N < 128 && floatGemm(1, view(asColumn(x), false), view(asColumn(y), true), a) {
		return
	}
	for i := range x.N {
		axpy(x.Data[i*x.Inc], y, row(a, i))
	}
}

// floatGemm computes C += sign·A·B in floating point, and otherwise reports false.
func floatGemm[T rev.Real](sign int, a, b strided[T], c rev.General[T]) bool {
	switch data := any(c.Data).(type) {
	case []float64:
		dense.Gemm(a.rows, b.cols, a.cols, float64(sign), float64s(a.data, 0), a.rs, a.cs, float64s(b.data, 0), b.rs, b.cs, data, c.Stride)
	case []float32:
		dense.Gemm(a.rows, b.cols, a.cols, float32(sign), float32s(a.data, 0), a.rs, a.cs, float32s(b.data, 0), b.rs, b.cs, data, c.Stride)
	default:
		return false
	}
	return true
}
