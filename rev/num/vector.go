package num

import (
	"unsafe"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Sums of vectors. x, y and z have the same length, or are nil.

// AddScaled computes y += a·x. It does nothing if y or x is nil.
func AddScaled[T rev.Real](y []T, a T, x []T) { AddSigned(y, 1, a, x) } // raw: a sign

// AddSigned computes y += sign·(a·x). The sign is 1 or -1, in fixed point as an integer. It
// does nothing if y or x is nil. Each product is rounded before it is added. The results
// have the bits of a plain loop.
func AddSigned[T rev.Real](y []T, sign, a T, x []T) {
	switch {
	case len(y) == 0 || len(x) == 0:
	case isFixed[T]():
		y = y[:len(x)]
		for i, v := range x {
			y[i] += T(sign * fixed.Product(a, v))
		}
	case unsafe.Sizeof(a) == 4:
		vec.Axpy(number.As[float32](sign*a), number.As[[]float32](x), number.As[[]float32](y))
	default:
		vec.Axpy(number.As[float64](sign*a), number.As[[]float64](x), number.As[[]float64](y))
	}
}

// Dot returns Σ x_i·z_i, which is 0 if x or z is nil. In fixed point it is exact. In
// floating point it is summed in vector code, within n·ε·Σ|x_i·z_i|, where ε is 2⁻⁵² or 2⁻²³.
func Dot[T rev.Real](x, z []T) (s fixed.Sum[T]) {
	switch {
	case len(x) == 0 || len(z) == 0:
	case isFixed[T]():
		z = z[:len(x)]
		for i, v := range x {
			s = s.AddMul(v, z[i])
		}
	case unsafe.Sizeof(x[0]) == 4:
		s = fixed.SumOf(number.As[T](vec.Dot(number.As[[]float32](x), number.As[[]float32](z))))
	default:
		s = fixed.SumOf(number.As[T](vec.Dot(number.As[[]float64](x), number.As[[]float64](z))))
	}
	return s
}
