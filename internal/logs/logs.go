// Package logs has the logarithms and powers of packages math and math/cmplx. On amd64,
// math.Log takes each subnormal number for one near 2⁻¹⁰²²: log 1e-310 comes out as -709.09, and
// is -713.80. Log10, Pow, cmplx.Log, cmplx.Log10 and cmplx.Pow inherit that. For all other numbers
// the functions here have the bits of those.
package logs

import (
	"math"
	"math/cmplx"
)

const (
	normal = 0x1p-1022 // the smallest normal number
	shift  = 54        // by which powers of two subnormal numbers are scaled
	scale  = 1 << shift
)

// Log returns the natural logarithm of x.
func Log(x float64) float64 {
	if 0 < x && x < normal {
		return math.Log(x*scale) - shift*math.Ln2
	}
	return math.Log(x)
}

// Log10 returns the logarithm of x to base 10.
func Log10(x float64) float64 {
	if 0 < x && x < normal {
		return math.Log10(x*scale) - shift*(math.Ln2/math.Ln10)
	}
	return math.Log10(x)
}

// Pow returns xʸ.
func Pow(x, y float64) float64 {
	if 0 < x && x < normal && math.Abs(y) <= 2 { // others are 0 or infinite
		return scaledPow(x*scale, y)
	}
	return math.Pow(x, y)
}

// scaledPow returns (x/scale)ʸ for |y| <= 2.
func scaledPow(x, y float64) float64 {
	n := math.RoundToEven(shift * y)
	rest := math.FMA(shift, y, -n) // so that the factor is 2⁻ⁿ·2⁻ʳᵉˢᵗ
	return math.Ldexp(math.Pow(x, y)*math.Exp2(-rest), -int(n))
}

// ComplexLog returns the principal logarithm of x. It is finite for all finite x but 0:
// cmplx.Log is infinite where |x| overflows.
func ComplexLog(x complex128) complex128 {
	var s float64
	switch m := largerPart(x); {
	case 0 < m && m < normal:
		s = scale
	case math.IsInf(cmplx.Abs(x), 0) && m <= math.MaxFloat64:
		s = 1. / scale
	default:
		return cmplx.Log(x)
	}
	return complex(math.Log(cmplx.Abs(times(s, x)))-math.Log(s), cmplx.Phase(x))
}

// ComplexLog10 returns the principal logarithm of x to base 10.
func ComplexLog10(x complex128) complex128 { return times(math.Log10E, ComplexLog(x)) }

// ComplexPow returns the principal value of xʸ.
func ComplexPow(x, y complex128) complex128 {
	m := largerPart(x)
	if !(0 < m && m < normal && math.Abs(real(y)) <= 2) {
		return cmplx.Pow(x, y)
	}
	modulus, arg := cmplx.Abs(times(scale, x)), cmplx.Phase(x)
	r, theta := scaledPow(modulus, real(y)), float64(real(y)*arg)
	if imag(y) != 0 {
		r *= math.Exp(-imag(y) * arg)
		theta += float64(imag(y) * (math.Log(modulus) - shift*math.Ln2))
	}
	sin, cos := math.Sincos(theta)
	return complex(r*cos, r*sin)
}

func largerPart(x complex128) float64 { return max(math.Abs(real(x)), math.Abs(imag(x))) }

func times(s float64, x complex128) complex128 { return complex(s*real(x), s*imag(x)) }
