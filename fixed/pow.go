package fixed

import (
	"math/bits"

	"revnum/internal/fixedtables"
)

// Pow returns xʸ, with an error below 0.51 unit in the last place. x may be
// negative if y is an integer, and zero if y is not negative (0⁰ = 1). It panics
// with ErrDomain if x is negative and y has a fraction, with ErrRange if the
// result is out of range, and with ErrDivideByZero if x is zero and y negative.
func Pow(x, y Q43) Q43 { return must(PowChecked(x, y)) }

// PowChecked returns xʸ as Pow does, or the error with which Pow panics.
func PowChecked(x, y Q43) (Q43, error) {
	negative := false
	switch {
	case y == 0:
		return One, nil
	case x == 0 && y < 0:
		return 0, ErrDivideByZero
	case x == 0:
		return 0, nil
	case x < 0:
		if y&(One-1) != 0 {
			return 0, ErrDomain
		}
		negative = y&One != 0
	}
	m, ok := pow(magnitude(x), y)
	if !ok {
		return 0, ErrRange
	}
	return checked(signed(m, negative))
}

// pow returns (x·2⁻⁴³)ʸ = 2^(y·log2 x) rounded, in units of 2⁻⁴³. It reports whether
// the power is at most 2²⁰. x is not zero.
func pow(x uint64, y Q43) (uint64, bool) {
	// |log2 x| = i + f·2⁻¹²⁸.
	i, f := log2Parts(x)
	negative := i < 0
	if negative {
		i, f = negate(i, f)
	}
	negative = negative != (y < 0)

	// |y·log2 x|, its first word in units of 2⁻⁴³.
	n := magnitude(y)
	t := f.mul64(n)
	over, whole := bits.Mul64(n, uint64(i))
	whole, c := bits.Add64(whole, t.hi, 0)
	if over+c != 0 || whole >= 64<<FracBits {
		return 0, negative
	}
	k := int(whole >> FracBits)
	f = uint128{whole, t.lo}.shl(64 - FracBits)
	if negative {
		k, f = negate(k, f)
	}
	if k == 20 {
		// 2^f < 1 + 2⁻⁶⁴ rounds to 1.
		return 1 << 63, f.hi == 0 || f.hi == 1 && f.lo < fixedtables.Log2eLess1Q128[0]
	}
	return exp2(k, f)
}

// negate returns -(i + f·2⁻¹²⁸) in the same form.
func negate(i int, f uint128) (int, uint128) {
	if f == (uint128{}) {
		return -i, f
	}
	return -i - 1, uint128{}.sub(f)
}

// log2Parts returns e and log2(m), with 128 fraction bits and an error below 2⁻¹⁰⁰,
// where x·2⁻⁴³ = m·2ᵉ and 1 <= m < 2. It works like logParts, with twice the bits
// and the power series of ln(1+u) up to u¹²/12.
func log2Parts(x uint64) (e int, log uint128) {
	e, m := normalise(x)
	t := &fixedtables.Log[m>>55&0xff]
	hi, lo := bits.Mul64(m, t.Inv)           // 126 fraction bits
	u := uint128{hi &^ (1 << 62), lo}.shl(2) // 128
	var p uint128
	for k := 12; k >= 1; k-- {
		p = uint128Of(fixedtables.Reciprocal[k]).sub(u.mul(p))
	}
	ln := uint128Of(t.Ln).add(u.mul(p))
	return e, ln.add(ln.mul(uint128Of(fixedtables.Log2eLess1Q128)))
}
