package odd

import "math/cmplx"

// mixed adds products, quotients and functions of complex numbers.
//
//revgen:kernel Mixed workers
//revgen:const c
func mixed(y, x []complex128, m [][]complex128, a complex128, c complex128) {
	if len(y) != len(x) || len(m) != len(x) || len(m[0]) != len(x) {
		panic("shape")
	}
	for i, v := range x {
		s := 0i
		for j := range x {
			s += m[i][j] * cmplx.Conj(x[j])
		}
		q := s / (3 + v*v)
		y[i] += a*q - c*cmplx.Exp(0.5i*v)*cmplx.Sin(q)*cmplx.Cos(q)
		y[i] -= complex(real(v)*imag(q), float64(i)) * (2 - 1i)
	}
}

// wave is a rotation in place, with a state that it carries.
//
//revgen:kernel Wave
func wave(x []complex128, w []complex128, out *complex128) {
	if len(w) != len(x) {
		panic("shape")
	}
	h := 0.5 + 0.25i
	for i := range x {
		x[i] += w[i] * h
		h = h*(0.3-0.2i) + cmplx.Tanh(0.5*x[i])
	}
	*out += h
	if len(x) > 1 {
		x[0], x[1] = x[1], x[0]
	}
	for i := range x {
		x[i] = -x[i]
	}
}

// spectrum is the discrete Fourier transform of x, by its definition.
//
//revgen:kernel Spectrum
func spectrum(y, x []complex128, root *complex128) {
	if len(y) != len(x) {
		panic("shape")
	}
	w := 1 + 0i
	for i := range y {
		p := 1 + 0i
		for _, v := range x {
			y[i] += p * v
			p *= w
		}
		w *= *root
	}
}
