package revlinalg

import (
	"unsafe"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// row returns row i of m, sharing its storage.
func row[T any](m rev.General[T], i int) rev.Vector[T] {
	return rev.ViewSlice(m.Row(i))
}

// between returns elements lo, ..., lo+n-1 of x, which may be nil.
func between[T any](x rev.Vector[T], lo, n int) rev.Vector[T] {
	if x.Data != nil {
		x.Data, x.N = x.Data[lo*x.Inc:], n
	}
	return x
}

// elementOf returns element i of x, 0 if x is nil.
func elementOf[T any](x rev.Vector[T], i int) (v T) {
	if x.Data != nil {
		v = x.Data[i*x.Inc]
	}
	return v
}

// valueOf returns *x, 0 if x is nil.
func valueOf[T any](x *T) (v T) {
	if x != nil {
		v = *x
	}
	return v
}

// elements returns elements lo, ..., lo+n-1 of x: the storage of x itself if it
// has no gaps, else a copy in buf.
func elements[T rev.Float](buf []T, x rev.Vector[T], lo, n int) []T {
	return vec.Packed(buf, x.Data, x.Inc, lo, n)
}

// addElements computes y_{lo+i} += alpha·d_i.
func addElements[T rev.Float](y rev.Vector[T], lo int, alpha T, d []T) {
	vec.AxpyInc(alpha, d, y.Data, y.Inc, lo)
}

// addConstant adds c to all elements of x.
func addConstant[T rev.Number](c T, x rev.Vector[T]) {
	if x.Data == nil {
		return
	}
	for i := range x.N {
		x.Data[i*x.Inc] += c
	}
}

// signed returns x, or -x if sign is negative.
func signed[T rev.Number](sign int, x T) T {
	if sign < 0 {
		return -x
	}
	return x
}

// dot returns Σ conj(x_i)·y_i, in fixed point rounded once. It is 0 if x or y is
// nil.
func dot[T rev.Number](x, y rev.Vector[T]) (s T) {
	if x.N == 0 || x.Data == nil || y.Data == nil {
		return 0
	}
	dense := x.Inc == 1 && y.Inc == 1
	switch {
	case number.IsComplex[T]():
		return number.As[T](complexDot(number.As[rev.Vector[complex128]](x), number.As[rev.Vector[complex128]](y)))
	case number.IsFixed[T]():
		if dense {
			return number.As[T](fixed.Dot(number.As[[]fixed.Q43](x.Data[:x.N]), number.As[[]fixed.Q43](y.Data[:y.N])))
		}
		var s fixed.Accumulator
		for i := range x.N {
			s.AddMul(number.As[fixed.Q43](x.Data[i*x.Inc]), number.As[fixed.Q43](y.Data[i*y.Inc]))
		}
		return number.As[T](s.Round())
	case !dense:
		for i := range x.N {
			s += T(x.Data[i*x.Inc] * y.Data[i*y.Inc])
		}
		return s
	case unsafe.Sizeof(s) == 4:
		return number.As[T](vec.Dot(number.As[[]float32](x.Data[:x.N]), number.As[[]float32](y.Data[:y.N])))
	}
	return number.As[T](vec.Dot(number.As[[]float64](x.Data[:x.N]), number.As[[]float64](y.Data[:y.N])))
}

// axpy computes y += alpha·x. It does nothing if x or y is nil.
func axpy[T rev.Number](alpha T, x, y rev.Vector[T]) {
	if x.N == 0 || x.Data == nil || y.Data == nil {
		return
	}
	switch {
	case number.IsComplex[T]():
		complexAxpy(number.As[complex128](alpha), number.As[rev.Vector[complex128]](x), number.As[rev.Vector[complex128]](y))
	case number.IsFixed[T]():
		a := number.As[fixed.Q43](alpha)
		for i := range x.N {
			y.Data[i*y.Inc] += number.As[T](a.Mul(number.As[fixed.Q43](x.Data[i*x.Inc])))
		}
	case x.Inc != 1 || y.Inc != 1:
		for i := range x.N {
			y.Data[i*y.Inc] += T(alpha * x.Data[i*x.Inc])
		}
	case unsafe.Sizeof(alpha) == 4:
		vec.Axpy(number.As[float32](alpha), number.As[[]float32](x.Data[:x.N]), number.As[[]float32](y.Data[:y.N]))
	default:
		vec.Axpy(number.As[float64](alpha), number.As[[]float64](x.Data[:x.N]), number.As[[]float64](y.Data[:y.N]))
	}
}

// axmy computes y -= alpha·x. It does nothing if x or y is nil.
func axmy[T rev.Number](alpha T, x, y rev.Vector[T]) {
	if !number.IsFixed[T]() {
		axpy(-alpha, x, y)
		return
	}
	if x.Data == nil || y.Data == nil {
		return
	}
	a := number.As[fixed.Q43](alpha)
	for i := range x.N {
		y.Data[i*y.Inc] -= number.As[T](a.Mul(number.As[fixed.Q43](x.Data[i*x.Inc])))
	}
}

// addScaled computes y += sign·alpha·x, to the bits of axpy and axmy.
func addScaled[T rev.Number](sign int, alpha T, x, y rev.Vector[T]) {
	if number.IsFixed[T]() && sign < 0 {
		axmy(alpha, x, y)
		return
	}
	axpy(signed(sign, alpha), x, y)
}

// sumSquares returns Σ x_i², in fixed point rounded once.
func sumSquares[T rev.Real](x rev.Vector[T]) T {
	if number.IsFixed[T]() || x.N == 0 || x.Inc != 1 {
		return dot(x, x)
	}
	if unsafe.Sizeof(T(0)) == 4 {
		return number.As[T](vec.SumSquares(number.As[[]float32](x.Data[:x.N])))
	}
	return number.As[T](vec.SumSquares(number.As[[]float64](x.Data[:x.N])))
}

// sum returns Σ x_i, 0 if x is nil.
func sum[T rev.Number](x rev.Vector[T]) (s T) {
	if x.N == 0 || x.Data == nil {
		return 0
	}
	if number.IsFixed[T]() || number.IsComplex[T]() || x.Inc != 1 {
		for i := range x.N {
			s += x.Data[i*x.Inc]
		}
		return s
	}
	if unsafe.Sizeof(s) == 4 {
		return number.As[T](vec.Sum(number.As[[]float32](x.Data[:x.N])))
	}
	return number.As[T](vec.Sum(number.As[[]float64](x.Data[:x.N])))
}

// addProduct computes y += sign·A·x, unless one of them is nil. In fixed point an
// element of A·x is rounded once.
func addProduct[T rev.Real](sign int, a rev.General[T], x, y rev.Vector[T]) {
	if a.Data == nil || x.Data == nil || y.Data == nil {
		return
	}
	if floatGemm(sign, view(a, false), view(asColumn(x), false), asColumn(y)) {
		return
	}
	for i := range y.N {
		y.Data[i*y.Inc] += T(sign) * dot(row(a, i), x)
	}
}

// addTransposedProduct computes x += Aᵀ·y, unless one of them is nil. In fixed point
// each product is rounded.
func addTransposedProduct[T rev.Real](a rev.General[T], y, x rev.Vector[T]) {
	if a.Data == nil || x.Data == nil || y.Data == nil {
		return
	}
	if floatGemm(1, view(a, true), view(asColumn(y), false), asColumn(x)) {
		return
	}
	for i := range y.N {
		axpy(y.Data[i*y.Inc], row(a, i), x)
	}
}

// addOuter computes A += x·yᵀ, unless one of them is nil. Short rows are done several
// at a time, as calls for each would take longer than the work.
func addOuter[T rev.Real](x, y rev.Vector[T], a rev.General[T]) {
	if a.Data == nil || x.Data == nil || y.Data == nil {
		return
	}
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
