package odd

import (
	"math"
	"math/cmplx"
)

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

// analytic has the functions of package math/cmplx that have a derivative, one in each
// column of y.
//
//revgen:kernel Analytic
func analytic(y [][]complex128, x, p []complex128) {
	if len(y[0]) != 18 || len(y) != len(x) || len(p) != len(x) {
		panic("shape")
	}
	for i, z := range x {
		y[i][0] += cmplx.Acos(z)
		y[i][1] += cmplx.Acosh(z)
		y[i][2] += cmplx.Asin(z)
		y[i][3] += cmplx.Asinh(z)
		y[i][4] += cmplx.Atan(z)
		y[i][5] += cmplx.Atanh(z)
		y[i][6] += cmplx.Cos(z)
		y[i][7] += cmplx.Cosh(z)
		y[i][8] += cmplx.Cot(z)
		y[i][9] += cmplx.Exp(z)
		y[i][10] += cmplx.Log(z)
		y[i][11] += cmplx.Log10(z)
		y[i][12] += cmplx.Sin(z)
		y[i][13] += cmplx.Sinh(z)
		y[i][14] += cmplx.Sqrt(z)
		y[i][15] += cmplx.Tan(z)
		y[i][16] += cmplx.Tanh(z)
		y[i][17] += cmplx.Pow(z, p[i])
	}
}

// magnitudes has functions with real values, and what real numbers may do: they have an
// order, and the functions of package math.
//
//revgen:kernel Magnitudes
func magnitudes(y, x []complex128, loss *complex128) {
	sum := 0.0
	for i, z := range x {
		r, phi := cmplx.Polar(z)
		y[i] += complex(r, phi) + cmplx.Rect(math.Sqrt(1+r*r), 2*phi)
		sin, cos := math.Sincos(real(z))
		y[i] += complex(sin*imag(z), math.Hypot(cos, r))
		if e := real(z)*imag(z) - 1; math.Abs(e) < 0.5 {
			sum += e * e
		} else {
			sum += max(e, -2*e) + cmplx.Abs(z)
		}
	}
	*loss += complex(sum, 0)
}
