package fixed

import (
	"math/bits"

	"revnum/internal/fixedtables"
)

// Sin returns sin x, x in radians, with an error below 0.51 unit in the last place
// for all x. The reduction modulo 2π is exact enough even at ±2²⁰.
func Sin(x Q43) Q43 {
	s, _ := sinCos(x)
	return s
}

// Cos returns cos x, x in radians, with an error below 0.51 unit in the last
// place for all x.
func Cos(x Q43) Q43 {
	_, c := sinCos(x)
	return c
}

// SinCos returns Sin(x) and Cos(x).
func SinCos(x Q43) (sin, cos Q43) { return sinCos(x) }

// sinCos returns sin x and cos x.
//
// |x|/2π modulo 1 is a number of quarters q and a rest of at most an eighth of a
// turn either way. The magnitude of the rest is an angle θ <= π/4, whose power
// series are
//
//	sin θ = θ·(1 - θ²/3! + ... - θ¹⁴/15!),  cos θ = 1 - θ²/2! + ... + θ¹⁶/16!
//
// They leave out less than θ¹⁷/17! < 2⁻⁵⁴.
func sinCos(x Q43) (sin, cos Q43) {
	t := uint128Of(fixedtables.InvTauQ128).mul64(magnitude(x)).shl(64 - FracBits).hi // turns, 64 fraction bits
	q := (t + 1<<61) >> 62
	rest := t - q<<62
	back := int64(rest) < 0
	if back {
		rest = -rest
	}
	theta := mulHi(rest<<2, fixedtables.TauQ61)     // 63
	z := mulHi(theta, theta) << 2                   // 64
	c, s := fixedtables.InvFactorial[16], uint64(0) // 64
	for k := 15; k >= 3; k -= 2 {
		s = fixedtables.InvFactorial[k] - mulHi(z, s)
		c = fixedtables.InvFactorial[k-1] - mulHi(z, c)
	}
	s = mulHi(theta, 1<<63-mulHi(z, s)>>1) // 62
	c = 1<<63 - mulHi(z, c)>>1             // 63
	sin = Q43((s + 1<<(61-FracBits)) >> (62 - FracBits))
	cos = Q43((c + 1<<(62-FracBits)) >> (63 - FracBits))

	if back {
		sin = -sin
	}
	switch q & 3 {
	case 1:
		sin, cos = cos, -sin
	case 2:
		sin, cos = -sin, -cos
	case 3:
		sin, cos = -cos, sin
	}
	if x < 0 {
		sin = -sin
	}
	return sin, cos
}

// Atan2 returns the angle of the point (x, y) in [-π, π], with an error below 0.51
// unit in the last place. The angle of (0, 0) is 0.
//
// Let 0 <= a <= b be the magnitudes of x and y, and c = i/64 nearest to a/b. Then
//
//	arctan(a/b) = arctan c + arctan t,  t = (a - c·b)/(b + c·a),  |t| <= 1/127
//
// and the power series of arctan t up to t⁷/7 leaves out less than 2⁻⁶⁵.
func Atan2(y, x Q43) Q43 {
	if x == 0 && y == 0 {
		return 0
	}
	a, b := magnitude(y), magnitude(x)
	steep := a > b
	if steep {
		a, b = b, a
	}
	// Scale b to 57 bits, so that nothing below overflows.
	if n := bits.LeadingZeros64(b); n < 7 {
		a, b = a>>(7-n), b>>(7-n)
	} else {
		a, b = a<<(n-7), b<<(n-7)
	}
	i := (a + b>>7) / (b >> 6)
	n, d := int64(a<<6-i*b), b<<6+i*a
	back := n < 0
	if back {
		n = -n
	}
	t, _ := bits.Div64(uint64(n), 0, d) // 64 fraction bits
	z := mulHi(t, t)                    // 64
	const third, fifth, seventh = (1<<64 - 1) / 3, (1<<64 - 1) / 5, (1<<64 - 1) / 7
	p := third - mulHi(z, fifth-mulHi(z, seventh))
	t -= mulHi(t, mulHi(z, p))

	angle := fixedtables.Atan[i] // 63
	if back {
		angle -= t >> 1
	} else {
		angle += t >> 1
	}
	angle >>= 2 // 61
	if steep {
		angle = fixedtables.PiQ61/2 - angle
	}
	if x < 0 {
		angle = fixedtables.PiQ61 - angle
	}
	v := Q43((angle + 1<<(60-FracBits)) >> (61 - FracBits))
	if y < 0 {
		v = -v
	}
	return v
}
