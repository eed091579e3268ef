package num

import (
	"math"
	"math/cmplx"

	"revnum/internal/logs"
)

// A Complex is a complex number as its parts, which have derivatives of their own.
type Complex struct{ Re, Im float64 }

// The derivatives of the inverse functions of package math/cmplx are the reciprocals of
// these numbers. On a branch cut the sign of a zero says on which side z is, as in
// math/cmplx.

// CosAsin returns cos(arcsin z), which is √(1-z)·√(1+z) and also sin(arccos z).
func CosAsin(z complex128) complex128 {
	return cmplx.Sqrt(complex(1-real(z), -imag(z))) * cmplx.Sqrt(complex(1+real(z), imag(z)))
}

// CoshAsinh returns cosh(arsinh z), which is √(1-iz)·√(1+iz).
func CoshAsinh(z complex128) complex128 { return CosAsin(complex(-imag(z), real(z))) }

// SinhAcosh returns sinh(arcosh z), which is √(z-1)·√(z+1). Between -1 and 1 it is the
// value above the cut for zeros of both signs, as arcosh is in math/cmplx.
func SinhAcosh(z complex128) complex128 {
	if imag(z) == 0 && math.Abs(real(z)) < 1 {
		z = complex(real(z), 0)
	}
	return cmplx.Sqrt(complex(real(z)-1, imag(z))) * cmplx.Sqrt(complex(real(z)+1, imag(z)))
}

// ComplexLog returns the principal logarithm of z. It is cmplx.Log, but also right if |z| is
// subnormal or overflows.
func ComplexLog(z complex128) complex128 { return logs.ComplexLog(z) }

// ComplexLog10 returns the principal logarithm of z to base 10.
func ComplexLog10(z complex128) complex128 { return logs.ComplexLog10(z) }

// ComplexPow returns the principal value of zʷ. It is cmplx.Pow, but also right if |z| is
// subnormal.
func ComplexPow(z, w complex128) complex128 { return logs.ComplexPow(z, w) }

// ComplexOver returns x/y, and 0 for y = 0.
func ComplexOver(x, y complex128) complex128 {
	if y == 0 {
		return 0
	}
	return x / y
}
