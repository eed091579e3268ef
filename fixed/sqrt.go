package fixed

import (
	"math"
	"math/bits"
)

// Sqrt returns √x rounded to nearest. It panics with ErrDomain if x is
// negative.
func Sqrt(x Q43) Q43 { return must(SqrtChecked(x)) }

// SqrtChecked returns √x as Sqrt does, or ErrDomain.
func SqrtChecked(x Q43) (Q43, error) {
	if x < 0 {
		return 0, ErrDomain
	}
	// The integer is the root of n = x·2⁴³. The float64 root is within one of
	// it on every machine, because IEEE 754 says how to round the conversion,
	// the scaling by a power of two and the root.
	s := uint64(math.Sqrt(float64(x) * (1 << FracBits)))
	n := uint128{uint64(x) >> (64 - FracBits), uint64(x) << FracBits}
	return Q43(nearestRoot(n, s)), nil
}

// nearestRoot returns √n rounded to nearest. s must be within a few units of it. An
// integer n is between (s-1/2)² and (s+1/2)² if s²-s < n <= s²+s.
func nearestRoot(n uint128, s uint64) uint64 {
	hi, lo := bits.Mul64(s, s)
	square := uint128{hi, lo}
	for square.add(uint128{0, s}).less(n) {
		square = square.add(uint128{0, s}).add(uint128{0, s + 1})
		s++
	}
	for !square.sub(uint128{0, s}).less(n) && s > 0 {
		square = square.sub(uint128{0, s}).sub(uint128{0, s - 1})
		s--
	}
	return s
}

// Hypot returns √(x²+y²) rounded to nearest. It panics with ErrRange if the result
// is out of range. Intermediate results are never out of range.
func Hypot(x, y Q43) Q43 { return must(HypotChecked(x, y)) }

// HypotChecked returns √(x²+y²) as Hypot does, or ErrRange.
func HypotChecked(x, y Q43) (Q43, error) {
	h := hypot(x, y)
	return checked(Q43(h), h <= uint64(Max))
}

// hypot returns the integer nearest to √(x²+y²), below 2⁶⁴.
func hypot(x, y Q43) uint64 {
	a, b := magnitude(x), magnitude(y)
	ah, al := bits.Mul64(a, a)
	bh, bl := bits.Mul64(b, b)
	return root(uint128{ah, al}.add(uint128{bh, bl}))
}

// root returns √n rounded to nearest, for n <= 2¹²⁷.
func root(n uint128) uint64 {
	// The float64 root s has 53 right bits. If more are needed, one step of
	// Newton's method, (s + n/s)/2, doubles them.
	s := uint64(math.Sqrt(float64(n.hi)*(1<<64) + float64(n.lo)))
	if n.hi != 0 {
		q, _ := bits.Div64(n.hi, n.lo, s)
		s = s/2 + q/2 + s&q&1
	}
	return nearestRoot(n, s)
}
