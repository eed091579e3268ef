package revsparse

import (
	"unsafe"

	"revnum/fixed"
)

// isFixed and isComplex are constants for each T, so that the branch not taken
// costs nothing.
func isFixed[T Scalar]() bool   { return T(1)/2 == 0 }
func isComplex[T Scalar]() bool { return unsafe.Sizeof(T(0)) == 16 }

// conj returns the complex conjugate of x.
func conj[T Scalar](x T) T {
	if !isComplex[T]() {
		return x
	}
	parts := (*[2]float64)(unsafe.Pointer(&x))
	parts[1] = -parts[1]
	return x
}

// mul returns a·b, rounded, so that no sum it goes into is fused with it.
func mul[T Scalar](a, b T) T {
	if !isFixed[T]() {
		return T(a * b)
	}
	x, y := (*fixed.Q43)(unsafe.Pointer(&a)), (*fixed.Q43)(unsafe.Pointer(&b))
	z := x.Mul(*y)
	return *(*T)(unsafe.Pointer(&z))
}

// q43 returns x, whose elements are fixed.Q43.
func q43[T Scalar](x []T) []fixed.Q43 { return any(x).([]fixed.Q43) }

// one returns the number 1.
func one[T Scalar]() T {
	if !isFixed[T]() {
		return 1
	}
	x := fixed.One
	return *(*T)(unsafe.Pointer(&x))
}
