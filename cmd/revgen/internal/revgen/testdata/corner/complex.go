package corner

import (
	"errors"
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

// mesh sends light through beam splitters, in place. Each mixes two neighbours by a matrix
// with the rows (c, -conj(s)) and (s, c), where c² = 1 - |s|², which is three shears.
//
//revgen:kernel Mesh workers
func mesh(x, s []complex128) {
	if len(x) != 2*len(s) {
		panic("shape")
	}
	for i, v := range s {
		shear := (cmplx.Sqrt(1-v*cmplx.Conj(v)) - 1) / v
		x[2*i] += shear * x[2*i+1]
		x[2*i+1] += v * x[2*i]
		x[2*i] += shear * x[2*i+1]
		x[2*i], x[2*i+1] = x[2*i+1], x[2*i]
	}
}

// orbits iterates a map from each point, and keeps few states. What goes from iteration to
// iteration depends on two numbers.
//
//revgen:kernel Orbits workers
//revgen:snapshots 3
func orbits(y, c, a []complex128, steps int) {
	for i, v := range c {
		z := a[i]
		for range steps {
			z = 0.5*z*cmplx.Conj(z) + v
		}
		y[i] += z
	}
}

// taylor sums powers of a number, and its derivatives go along with the values.
//
//revgen:kernel Taylor
func taylor(y, x []complex128) {
	for i, v := range x {
		term, sum := 1+0i, 0i
		for k := 1; cmplx.Abs(term) > 1e-18; k++ {
			sum += term
			term *= v / complex(float64(k), 0)
		}
		y[i] += sum
	}
}

// spiral depends on one number too, but also on its conjugate.
//
//revgen:kernel Spiral
func spiral(y, x []complex128) {
	for i, v := range x {
		z := v
		for range 5 {
			z = cmplx.Sin(z)*cmplx.Conj(v) + complex(0.5*real(z), 0)
		}
		y[i] += z
	}
}

// An amplitude is a struct of complex numbers.
type amplitude struct {
	up, down complex128
	w        [2]complex128
}

var errSingular = errors.New("an amplitude is zero")

// checked has structs and arrays of complex numbers, branches by integers, and an error.
//
//revgen:kernel Checked
func checked(y, x []complex128, kind []int) error {
	if len(kind) != len(x) || len(y) != len(x) {
		panic("shape")
	}
	for _, v := range x {
		if v == 0 {
			return errSingular
		}
	}
	for i, v := range x {
		a := amplitude{up: v, w: [2]complex128{2i, 1: v * v}}
		a.down = cmplx.Conj(a.up) * a.w[0]
		switch kind[i] {
		case 0:
			a.up, a.down = a.down, a.up
		case 1:
			a.w[0] += 1 / v
		default:
			a = amplitude{w: a.w, down: 1}
		}
		for j := range a.w {
			y[i] += a.w[j]*a.up - a.down
		}
	}
	return nil
}
