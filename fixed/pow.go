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
	// |log2 x| = i + f.
	e, f := log2Parts(x)
	negative, i := e < 0, uint64(e)
	if negative {
		i = uint64(-e)
		if f.hi|f.lo != 0 {
			i--
			f = limbs{}.minus(f)
		}
	}
	negative = negative != (y < 0)

	// |y·log2 x| is over·2⁹ + whole·2⁻⁴³ + rest·2⁻⁹⁵.
	n := magnitude(y)
	n1, n0 := n>>52, n&mask52
	rest := hi52(n0, f.lo) + lo52(n0, f.hi) + lo52(n1, f.lo)
	whole := hi52(n0, f.hi) + hi52(n1, f.lo) + lo52(n1, f.hi) + lo52(n0, i) + rest>>52
	over := hi52(n1, f.hi) + hi52(n0, i) + lo52(n1, i)
	rest &= mask52
	if over != 0 || whole >= 64<<FracBits {
		return 0, negative
	}
	k, t := int(whole>>FracBits), uint128{whole<<(64-FracBits) | rest>>31, rest << 33}
	if negative {
		k, t = negate(k, t)
	}
	if k == 20 {
		// 2^t < 1 + 2⁻⁶⁴ rounds to 1.
		return 1 << 63, t.hi == 0 || t.hi == 1 && t.lo < fixedtables.Log2eLess1Q128[0]
	}
	return exp2(k, t)
}

// limbs are the fraction hi·2⁻⁵² + lo·2⁻¹⁰⁴. Vector code multiplies limbs of 52 bits.
type limbs struct{ hi, lo uint64 }

const mask52 = 1<<52 - 1

// hi52 and lo52 return the high and the low limb of the product of two limbs.
func hi52(x, y uint64) uint64 { return mulHi(x<<12, y) }
func lo52(x, y uint64) uint64 { return x * y & mask52 }

// limbsOf returns a fraction of 128 bits, cut.
func limbsOf(x [2]uint64) limbs { return limbs{x[0] >> 12, (x[0]<<40 | x[1]>>24) & mask52} }

// times returns x·y. It is too small by less than 3·2⁻¹⁰⁴.
func (x limbs) times(y limbs) limbs {
	return limbs{hi52(x.hi, y.hi), 0}.plus(limbs{0, hi52(x.hi, y.lo) + hi52(x.lo, y.hi) + lo52(x.hi, y.hi)})
}

// plus returns x + y.
func (x limbs) plus(y limbs) limbs {
	lo := x.lo + y.lo
	return limbs{x.hi + y.hi + lo>>52, lo & mask52}
}

// minus returns x - y modulo 1.
func (x limbs) minus(y limbs) limbs {
	lo := x.lo - y.lo
	return limbs{(x.hi - y.hi + uint64(int64(lo)>>52)) & mask52, lo & mask52}
}

// negate returns -(i + f·2⁻¹²⁸) in the same form.
func negate(i int, f uint128) (int, uint128) {
	if f == (uint128{}) {
		return -i, f
	}
	return -i - 1, uint128{}.sub(f)
}

// log2Parts returns e and log2(m), with an error below 2⁻¹⁰⁰, where x·2⁻⁴³ = m·2ᵉ and
// 1 <= m < 2. It works like logParts, with limbs and the power series of ln(1+u) up to
// u¹²/12,
//
//	ln(1+u) = u·(1 - u·(1/2 - u·(1/3 - ...)))
//
// which leaves out less than 2⁻¹⁰⁷. One limb of what is multiplied by u⁷ is enough. It is
// within 2⁻⁵¹, which makes less than 2⁻¹⁰⁶. Products, constants and u are cut at 2⁻¹⁰⁴, and
// what is in the series counts 2⁻⁸ times, so that ln m is within 6·2⁻¹⁰⁴.
func log2Parts(x uint64) (e int, log limbs) {
	e, m := normalise(x)
	t := &fixedtables.Log[m>>55&0xff]
	hi, lo := bits.Mul64(m, t.Inv) // 126 fraction bits, and a leading one
	u := limbs{hi >> 10 & mask52, (hi<<42 | lo>>22) & mask52}
	p := limbs{hi: fixedtables.Reciprocal[12][0] >> 12}
	for k := 11; k >= 7; k-- {
		p.hi = fixedtables.Reciprocal[k][0]>>12 - hi52(u.hi, p.hi)
	}
	for k := 6; k >= 1; k-- {
		p = limbsOf(fixedtables.Reciprocal[k]).minus(u.times(p))
	}
	ln := limbsOf(t.Ln).plus(u.times(p))
	return e, ln.plus(ln.times(limbsOf(fixedtables.Log2eLess1Q128)))
}
