package revsparse

import (
	"math"

	"revnum/internal/number"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// load returns the n elements of v, or zeros if v is nil, in the storage of dst if that
// is large enough.
func load[D, T rev.Float](dst []D, v rev.Vector[T], n int) []D {
	dst = workspace.Zeros(dst, n)
	if v.Data != nil {
		for i := range dst {
			dst[i] = D(v.Data[i*v.Inc])
		}
	}
	return dst
}

// accumulate computes v += alpha·x. It does nothing if v is nil.
func accumulate[D, T rev.Float](v rev.Vector[T], alpha D, x []D) {
	if v.Data != nil {
		for i, e := range x {
			v.Data[i*v.Inc] += T(alpha * e)
		}
	}
}

// norm2 returns the norm of x, whose elements are of moderate size.
func norm2(x []float64) float64 { return math.Sqrt(vec.SumSquares(x)) }

// epsilon returns the distance from 1 to the next T.
func epsilon[T rev.Float]() float64 {
	if T(1)+0x1p-52 != 1 {
		return 0x1p-52
	}
	return 0x1p-23
}

// binaryExponent returns e such that the largest element of x is between 1/2 and 1
// times 2ᵉ. It also reports whether all elements are finite.
func binaryExponent[T rev.Float](x []T) (e int, finite bool) {
	top := 0.0
	for _, v := range x {
		if m := math.Abs(float64(v)); m > top || math.IsNaN(m) {
			top = m // keeps a NaN
		}
	}
	_, e = math.Frexp(top)
	return e, top <= math.MaxFloat64
}

// dotConj returns Σ x_c·conj(y_c), or of the conjugates if flip is set.
func dotConj[T rev.Number](x, y []T, flip bool) T {
	s := vector.Dot(rev.ViewSlice(y), rev.ViewSlice(x))
	if flip {
		s = number.Conj(s)
	}
	return s
}

// scale2 multiplies x by 2ᵉ.
func scale2(x []float64, e int) {
	for i, v := range x {
		x[i] = math.Ldexp(v, e)
	}
}
