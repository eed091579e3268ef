// Package number has what code needs that is generic over fixed-point, floating-point
// and complex numbers: which of them it runs on, and their arithmetic.
package number

import (
	"unsafe"

	"revnum/fixed"
)

// Number has the types of rev.Number.
type Number interface {
	float32 | float64 | fixed.Q43 | complex128
}

// IsFixed reports whether T is fixed.Q43. It is a constant for each T, so that a branch
// that is not taken costs nothing.
func IsFixed[T Number]() bool { return T(1)/2 == 0 }

// IsComplex reports whether T is complex128. It is a constant for each T too.
func IsComplex[T Number]() bool { return unsafe.Sizeof(T(0)) == 16 }

// As returns x as a value of the type To, which must be the type of x.
func As[To, T any](x T) To { return *(*To)(unsafe.Pointer(&x)) }

// Fixed returns x, whose elements must be fixed.Q43.
func Fixed[T any](x []T) []fixed.Q43 { return As[[]fixed.Q43](x) }

// One returns the number 1.
func One[T Number]() T {
	if IsFixed[T]() {
		return As[T](fixed.One)
	}
	return 1 // raw: not over fixed point
}

// Conj returns the complex conjugate of x. That of a real number is the number itself.
func Conj[T Number](x T) T {
	if IsComplex[T]() {
		z := (*[2]float64)(unsafe.Pointer(&x))
		z[1] = -z[1]
	}
	return x
}

// Mul returns a·b, rounded: the compiler does not fuse it with a sum.
func Mul[T Number](a, b T) T {
	switch {
	case IsFixed[T]():
		return As[T](As[fixed.Q43](a).Mul(As[fixed.Q43](b)))
	case IsComplex[T]():
		return As[T](Times(As[complex128](a), As[complex128](b)))
	}
	return T(a * b)
}

// Signed returns x, or -x if sign is negative.
func Signed[T Number](sign int, x T) T {
	if sign < 0 {
		return -x
	}
	return x
}

// ValueOf returns *x, or 0 if x is nil.
func ValueOf[T any](x *T) (v T) {
	if x != nil {
		v = *x
	}
	return v
}

// Over returns x/n. If n is not positive it returns x/0, or 0 in fixed point.
func Over[T fixed.Number](x T, n int) T {
	if !IsFixed[T]() {
		return x / T(max(n, 0))
	}
	if n <= 0 {
		return 0
	}
	// Rounded to nearest, ties away from zero.
	q, r := fixed.Q43(x)/fixed.Q43(n), (fixed.Q43(x) % fixed.Q43(n)).Abs()
	if r >= fixed.Q43(n)-r {
		if x < 0 {
			q--
		} else {
			q++
		}
	}
	return T(q)
}

// Times returns a·b, without fused operations.
func Times(a, b complex128) complex128 {
	return complex(
		float64(real(a)*real(b))-float64(imag(a)*imag(b)),
		float64(real(a)*imag(b))+float64(imag(a)*real(b)),
	)
}
