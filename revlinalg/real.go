package revlinalg

import (
	"unsafe"

	"revnum/rev"
)

// isFixed and isComplex report what T is. They are constants for each T, so that
// the branch not taken costs nothing.
func isFixed[T rev.Number]() bool   { return T(1)/2 == 0 }
func isComplex[T rev.Number]() bool { return unsafe.Sizeof(T(0)) == 16 }

// as returns x as a value of the type To, which is its type where the code runs.
// Code over number types needs it in the branches for one of them.
func as[To, T any](x T) To { return *(*To)(unsafe.Pointer(&x)) }

// conj returns the complex conjugate of x, which is x of a real number.
func conj[T rev.Number](x T) T {
	if isComplex[T]() {
		z := as[complex128](x)
		return as[T](complex(real(z), -imag(z)))
	}
	return x
}

// signed returns x, or -x if sign is negative.
func signed[T rev.Number](sign int, x T) T {
	if sign < 0 {
		return -x
	}
	return x
}
