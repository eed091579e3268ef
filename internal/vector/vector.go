// Package vector has the sums and products of vectors that dense kernels are made of, over
// all number types and with gaps between elements.
//
// Functions whose names end in At take pointers to operands, because copies are slow here. A call
// writes its operands to memory. A function that takes a vector by value then reads it, 16 bytes at a
// time. If such a read covers parts of two writes, the processor waits until both have reached the
// cache. That takes as long as a short sum.
package vector

import (
	"math/cmplx"
	"unsafe"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Row returns row i of m, sharing its storage.
func Row[T any](m rev.General[T], i int) rev.Vector[T] {
	return rev.ViewSlice(m.Row(i))
}

// Between returns elements lo, ..., lo+n-1 of x, which may be nil.
func Between[T any](x rev.Vector[T], lo, n int) rev.Vector[T] {
	if x.Data != nil {
		x.Data, x.N = x.Data[lo*x.Inc:], n
	}
	return x
}

// Element returns element i of x, 0 if x is nil.
func Element[T any](x rev.Vector[T], i int) (v T) {
	if x.Data != nil {
		v = x.Data[i*x.Inc]
	}
	return v
}

// Elements returns elements lo, ..., lo+n-1 of x: the storage of x itself if it
// has no gaps, else a copy in buf.
func Elements[T rev.Float](buf []T, x *rev.Vector[T], lo, n int) []T {
	return vec.Packed(buf, x.Data, x.Inc, lo, n)
}

// AddElements computes y_{lo+i} += alpha·d_i.
func AddElements[T rev.Float](y *rev.Vector[T], lo int, alpha T, d []T) {
	vec.AxpyInc(alpha, d, y.Data, y.Inc, lo)
}

// AddConstant adds c to all elements of x.
func AddConstant[T rev.Number](c T, x rev.Vector[T]) { AddConstantAt(c, &x) }

// AddConstantAt is AddConstant.
func AddConstantAt[T rev.Number](c T, x *rev.Vector[T]) {
	if x.Data == nil {
		return
	}
	if x.Inc == 1 {
		switch x := any(x.Data[:x.N]).(type) {
		case []float64:
			vec.AddConstant(x, number.As[float64](c))
			return
		case []float32:
			vec.AddConstant(x, number.As[float32](c))
			return
		case []complex128:
			vec.ComplexAddConstant(x, number.As[complex128](c))
			return
		}
	}
	for i := range x.N {
		x.Data[i*x.Inc] += c
	}
}

// Dot returns Σ conj(x_i)·y_i, in fixed point rounded once. It is 0 if x or y is
// nil.
func Dot[T rev.Number](x, y rev.Vector[T]) T { return DotAt(&x, &y) }

// DotAt is Dot.
func DotAt[T rev.Number](x, y *rev.Vector[T]) (s T) {
	if x.N == 0 || x.Data == nil || y.Data == nil {
		return 0
	}
	dense := x.Inc == 1 && y.Inc == 1
	switch {
	case number.IsComplex[T]():
		return number.As[T](complexDot(number.As[rev.Vector[complex128]](*x), number.As[rev.Vector[complex128]](*y)))
	case number.IsFixed[T]():
		if dense {
			return number.As[T](fixedpoint.Dot(number.As[[]fixed.Q43](x.Data[:x.N]), number.As[[]fixed.Q43](y.Data[:y.N])))
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

// DotBy returns the sum of Dot of parts of n elements.
func DotBy[T rev.Number](n int, x, y *rev.Vector[T]) (s T) {
	switch {
	case x.N <= n:
		return DotAt(x, y)
	case number.IsFixed[T]() || number.IsComplex[T]() || x.Inc != 1 || y.Inc != 1:
		for lo := 0; lo < x.N; lo += n {
			s += Dot(Between(*x, lo, min(n, x.N-lo)), Between(*y, lo, min(n, x.N-lo)))
		}
		return s
	case unsafe.Sizeof(s) == 4:
		return number.As[T](dotBy(n, number.As[[]float32](x.Data[:x.N]), number.As[[]float32](y.Data[:x.N])))
	}
	return number.As[T](dotBy(n, number.As[[]float64](x.Data[:x.N]), number.As[[]float64](y.Data[:x.N])))
}

// far is the length of a vector that is not in the second-level cache.
const far = 1 << 17

// dotBy is DotBy of slices, of which a part costs less than one of vectors.
func dotBy[T rev.Float](n int, x, y []T) (s T) {
	for lo := 0; lo < len(x); lo += n {
		hi := min(lo+n, len(x))
		if len(x) >= far {
			s += vec.DotFar(x[lo:hi], y[lo:hi])
		} else {
			s += vec.Dot(x[lo:hi], y[lo:hi])
		}
	}
	return s
}

// Axpy computes y += alpha·x. It does nothing if x or y is nil.
func Axpy[T rev.Number](alpha T, x, y rev.Vector[T]) { AxpyAt(alpha, &x, &y) }

// AxpyAt is Axpy.
func AxpyAt[T rev.Number](alpha T, x, y *rev.Vector[T]) {
	if x.N == 0 || x.Data == nil || y.Data == nil {
		return
	}
	switch {
	case number.IsComplex[T]():
		complexAxpy(number.As[complex128](alpha), number.As[rev.Vector[complex128]](*x), number.As[rev.Vector[complex128]](*y))
	case number.IsFixed[T]():
		fixedAxpy(1, number.As[fixed.Q43](alpha), number.As[rev.Vector[fixed.Q43]](*x), number.As[rev.Vector[fixed.Q43]](*y))
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

// Axmy computes y -= alpha·x. It does nothing if x or y is nil.
func Axmy[T rev.Number](alpha T, x, y rev.Vector[T]) {
	if !number.IsFixed[T]() {
		Axpy(-alpha, x, y)
		return
	}
	if x.N == 0 || x.Data == nil || y.Data == nil {
		return
	}
	fixedAxpy(-1, number.As[fixed.Q43](alpha), number.As[rev.Vector[fixed.Q43]](x), number.As[rev.Vector[fixed.Q43]](y))
}

// fixedAxpy computes y += sign·alpha·x. Each product is rounded.
func fixedAxpy(sign int, alpha fixed.Q43, x, y rev.Vector[fixed.Q43]) {
	if x.Inc == 1 && y.Inc == 1 {
		fixedpoint.Axpy(sign, alpha, x.Data[:x.N], y.Data[:x.N])
		return
	}
	for i := range x.N {
		y.Data[i*y.Inc] += number.Signed(sign, alpha.Mul(x.Data[i*x.Inc]))
	}
}

// AddScaled computes y += sign·alpha·x, to the bits of Axpy and Axmy.
func AddScaled[T rev.Number](sign int, alpha T, x, y rev.Vector[T]) { AddScaledAt(sign, alpha, &x, &y) }

// AddScaledAt is AddScaled.
func AddScaledAt[T rev.Number](sign int, alpha T, x, y *rev.Vector[T]) {
	if number.IsFixed[T]() && sign < 0 {
		Axmy(alpha, *x, *y)
		return
	}
	AxpyAt(number.Signed(sign, alpha), x, y)
}

// SumSquares returns Σ x_i², in fixed point rounded once.
func SumSquares[T rev.Real](x rev.Vector[T]) T { return SumSquaresAt(&x) }

// SumSquaresAt is SumSquares.
func SumSquaresAt[T rev.Real](x *rev.Vector[T]) T {
	switch {
	case x.N == 0 || x.Inc != 1:
		return DotAt(x, x)
	case number.IsFixed[T]():
		sum := fixedpoint.SumSquares(number.As[[]fixed.Q43](x.Data[:x.N]))
		return number.As[T](sum.Round())
	case unsafe.Sizeof(T(0)) == 4:
		return number.As[T](vec.SumSquares(number.As[[]float32](x.Data[:x.N])))
	}
	return number.As[T](vec.SumSquares(number.As[[]float64](x.Data[:x.N])))
}

// Sum returns Σ x_i, 0 if x is nil.
func Sum[T rev.Number](x rev.Vector[T]) T { return SumAt(&x) }

// SumAt is Sum.
func SumAt[T rev.Number](x *rev.Vector[T]) (s T) {
	if x.N == 0 || x.Data == nil {
		return 0
	}
	if number.IsFixed[T]() || x.Inc != 1 {
		for i := range x.N {
			s += x.Data[i*x.Inc]
		}
		return s
	}
	switch unsafe.Sizeof(s) {
	case 4:
		return number.As[T](vec.Sum(number.As[[]float32](x.Data[:x.N])))
	case 16:
		return number.As[T](vec.ComplexSum(number.As[[]complex128](x.Data[:x.N])))
	}
	return number.As[T](vec.Sum(number.As[[]float64](x.Data[:x.N])))
}

// complexDot returns Σ conj(x_i)·y_i.
func complexDot(x, y rev.Vector[complex128]) (s complex128) {
	if x.Inc == 1 && y.Inc == 1 {
		return vec.ComplexDot(x.Data[:x.N], y.Data[:y.N])
	}
	for i := range x.N {
		s += number.Times(cmplx.Conj(x.Data[i*x.Inc]), y.Data[i*y.Inc])
	}
	return s
}

// complexAxpy computes y += alpha·x.
func complexAxpy(alpha complex128, x, y rev.Vector[complex128]) {
	if x.Inc == 1 && y.Inc == 1 {
		vec.ComplexAxpy(alpha, x.Data[:x.N], y.Data[:y.N])
		return
	}
	for i := range x.N {
		y.Data[i*y.Inc] += number.Times(alpha, x.Data[i*x.Inc])
	}
}
