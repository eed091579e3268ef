package revlinalg

import (
	"math"
	"math/cmplx"
)

// A complex z = a + ib has the cotangent z̄ = ā + i·b̄, where ā and b̄ are the derivatives
// by its parts. Then ⟨z̄, ż⟩ = Re conj(z̄)·ż, and the adjoint of multiplication by c is
// multiplication by conj(c):
//
//	y += c·z  has  z̄ += conj(c)·ȳ.
//
// Kernels over rev.Number are written once for real and complex numbers. Kernels with
// complex inputs and real outputs have names that begin with Complex.

// scale returns r·z.
func scale(r float64, z complex128) complex128 { return complex(r*real(z), r*imag(z)) }

// along returns Re conj(a)·b.
func along(a, b complex128) float64 { return float64(real(a)*real(b)) + float64(imag(a)*imag(b)) }

// unit returns |z| and z/|z|. z/|z| is 0 at 0. At an infinity it is the limit on a ray
// in the direction cmplx.Phase(z).
func unit(z complex128) (r float64, u complex128) {
	r = cmplx.Abs(z)
	if r == 0 {
		return 0, 0
	}
	if cmplx.IsInf(z) {
		z = complex(signOfInf(real(z)), signOfInf(imag(z)))
	} else {
		// Scaled, so that a subnormal or overflowing |z| loses no digits.
		_, e := math.Frexp(max(math.Abs(real(z)), math.Abs(imag(z))))
		z = complex(math.Ldexp(real(z), -e), math.Ldexp(imag(z), -e))
	}
	return r, scale(1/cmplx.Abs(z), z)
}

// signOfInf returns ±1 for ±Inf, ±0 for other numbers, and NaN for NaN.
func signOfInf(x float64) float64 {
	if math.IsInf(x, 0) {
		return math.Copysign(1, x)
	}
	return 0 * x
}

// turn returns the derivative of z/|z| = u along dz, 0 at z = 0.
func turn(r float64, u, dz complex128) complex128 {
	if r == 0 {
		return 0
	}
	return scale(1/r, dz-scale(along(u, dz), u))
}
