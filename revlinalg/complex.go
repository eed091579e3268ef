package revlinalg

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

// turn returns the derivative of z/|z| = u along dz, 0 at z = 0.
func turn(r float64, u, dz complex128) complex128 {
	if r == 0 {
		return 0
	}
	return scale(1/r, dz-scale(along(u, dz), u))
}
