package science

import (
	"math"
	"math/cmplx"
)

// Functions of real numbers that compute with complex ones.

// spectrum weighs the spectrum of a signal, by the fast Fourier transform.
//
//revgen:gradient x hessian
func spectrum(x, weights []float64) float64 {
	n := len(x)
	z := make([]complex128, n)
	for i, v := range x {
		z[i] = complex(v, 0)
	}
	for i, j := 0, 0; i < n; i++ {
		if i < j {
			z[i], z[j] = z[j], z[i]
		}
		m := n / 2
		for m > 0 && j&m != 0 {
			j ^= m
			m /= 2
		}
		j |= m
	}
	for size := 2; size <= n; size *= 2 {
		step := cmplx.Exp(complex(0, -2*math.Pi/float64(size)))
		for start := 0; start < n; start += size {
			w := 1 + 0i
			for k := start; k < start+size/2; k++ {
				a, b := z[k], w*z[k+size/2]
				z[k], z[k+size/2] = a+b, a-b
				w *= step
			}
		}
	}
	sum := 0.0
	for i, v := range z {
		sum += weights[i] * real(v*cmplx.Conj(v))
		sum += weights[n-1-i] * imag(v)
	}
	return sum
}

// ladder is how much a ladder of coils, resistors and capacitors lets through.
//
//revgen:gradient x hessian
func ladder(x []float64, frequency float64) float64 {
	var z complex128
	for i := 0; i < len(x); i += 3 {
		r, l, c := x[i], x[i+1], x[i+2]
		z += complex(r, frequency*l)
		z = 1 / (1/z + complex(0, frequency*c))
	}
	return cmplx.Abs(z) - 0.5*cmplx.Phase(z)
}

// roots finds the roots of a monic polynomial by the method of Durand and Kerner.
//
//revgen:jacobian x
func roots(dst, x []float64) {
	var r [3]complex128
	r[0] = 1
	for i := 1; i < len(r); i++ {
		r[i] = r[i-1] * (0.4 + 0.9i)
	}
	for range 30 {
		for i, z := range r {
			value, others := complex128(1), complex128(1)
			for j := range r {
				value = value*z + complex(x[j], 0)
				if j != i {
					others *= z - r[j]
				}
			}
			r[i] -= value / others
		}
	}
	for i, z := range r {
		dst[2*i], dst[2*i+1] = real(z), imag(z)
	}
}

// analytic calls functions of math/cmplx.
//
//revgen:gradient x
func analytic(x []float64) float64 {
	z, w := complex(x[0], x[1]), complex(x[2], x[3])
	r, phase := cmplx.Polar(z)
	sum := cmplx.Exp(z*w) + cmplx.Log(z) - cmplx.Sqrt(w)*cmplx.Sqrt(-z) + cmplx.Pow(z, w) + cmplx.Rect(x[0], x[1])
	sum += cmplx.Sin(z) * cmplx.Cos(w) / cmplx.Tan(z)
	sum -= cmplx.Sinh(w) + cmplx.Cosh(z)*cmplx.Tanh(w)/2 + cmplx.Log10(w)
	sum *= complex(r, phase)
	sum /= 3 - 2i
	z, w = w, z
	z = complex(imag(z), real(z))
	if z == w || z != z+1 && real(z) > 1e6 {
		return 0
	}
	return real(sum) + 2*imag(sum) + real(z*z) - imag(z/w)
}

// A filter has poles, which are constant.
type filter struct {
	gain  float64
	poles []complex128
}

// respond is the response of a filter at points along the unit circle.
//
//revgen:gradient x
func (f *filter) respond(x []float64, zeros []complex128) float64 {
	product := func(list []complex128, z complex128) complex128 {
		p := complex(f.gain, 0)
		for _, v := range list {
			p *= z - v
		}
		return p
	}
	sum := 0.0
	for _, t := range x {
		z := cmplx.Rect(1, t)
		sum += cmplx.Abs(product(zeros, z) / product(f.poles, z))
	}
	return sum
}

// halved sets elements of slices that are the same memory.
//
//revgen:gradient x
func halved(x []float64) float64 {
	z := make([]complex128, 2)
	for i := range z {
		z[i] = complex(x[2*i], x[2*i+1])
	}
	w := z
	w[0] = z[0] * z[1]
	z[1]++
	z[1] = complex(imag(w[1]), real(w[1])) / 2
	p := w[0] * z[1]
	return real(p) + 3*imag(p)
}
