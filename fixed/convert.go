package fixed

import (
	"math"
	"math/big"
)

// FromInt returns i, wrapped to [-2²⁰, 2²⁰).
func FromInt(i int) Q43 { return Q43(i) << FracBits }

// FromIntChecked returns i, or ErrRange.
func FromIntChecked(i int) (Q43, error) {
	x := FromInt(i)
	if x.Int() != i {
		return 0, ErrRange
	}
	return x, nil
}

// Int returns x rounded toward zero, as conversions of the language to int are.
func (x Q43) Int() int { return int(x / One) }

// FromFloat64 returns v rounded to nearest, ties to even, and wrapped: the result is
// v modulo 2²¹, in [-2²⁰, 2²⁰). It panics with ErrDomain if v is NaN and with
// ErrRange if v is infinite.
func FromFloat64(v float64) Q43 {
	x, err := FromFloat64Checked(v)
	switch {
	case err == nil:
		return x
	case v != v || math.IsInf(v, 0):
		panic(err)
	}
	// |v| >= 2²⁰ is a multiple of 2⁻³², so nothing is rounded.
	m, e := math.Frexp(math.Abs(v))
	q := uint64(m*(1<<53)) << (e - 53 + FracBits)
	if v < 0 {
		q = -q
	}
	return Q43(q)
}

// FromFloat64Checked returns v rounded to nearest, ties to even. The error is
// ErrDomain if v is NaN, and ErrRange if v is not in [-2²⁰, 2²⁰).
func FromFloat64Checked(v float64) (Q43, error) {
	if v != v {
		return 0, ErrDomain
	}
	// Scaling by a power of two is exact. Next to 2²⁰ all float64 are multiples
	// of 2⁻⁴³, so nothing is rounded out of range.
	v *= 1 << FracBits
	if !(-1<<63 <= v && v < 1<<63) {
		return 0, ErrRange
	}
	return Q43(math.RoundToEven(v)), nil
}

// FromFloat64Sat returns v rounded to nearest, ties to even, or the end of the
// range nearest to it. It panics with ErrDomain if v is NaN.
func FromFloat64Sat(v float64) Q43 {
	x, err := FromFloat64Checked(v)
	switch {
	case err == nil:
		return x
	case v != v:
		panic(err)
	}
	return limit(v < 0)
}

// Float64 returns x rounded to nearest, ties to even. It is exact if x takes no
// more than 53 bits, as all numbers in [-2¹⁰, 2¹⁰] do.
func (x Q43) Float64() float64 { return float64(float64(x) * (1.0 / (1 << FracBits))) }

// Float32 returns x rounded to nearest, ties to even.
func (x Q43) Float32() float32 {
	// Some machines round twice when they convert an int64 to float32. None
	// does when it converts a float64. A number that does not fit in a float64
	// is replaced by one that fits and lies between the same two float32.
	if magnitude(x) >= 1<<53 {
		const low = 1<<11 - 1
		sticky := x & low
		if x &^= low; sticky != 0 {
			x |= low + 1
		}
	}
	return float32(x.Float64())
}

// FromRat returns v rounded to nearest, ties to even, and wrapped.
func FromRat(v *big.Rat) Q43 {
	x, _ := fromRat(v)
	return x
}

// FromRatChecked returns v rounded to nearest, ties to even, or ErrRange.
func FromRatChecked(v *big.Rat) (Q43, error) { return checked(fromRat(v)) }

func fromRat(v *big.Rat) (Q43, bool) {
	return fromBig(quoRound(new(big.Int).Lsh(v.Num(), FracBits), v.Denom()))
}

// Rat returns x, exactly.
func (x Q43) Rat() *big.Rat {
	return big.NewRat(int64(x), 1<<FracBits)
}

// FromBigFloat returns v rounded to nearest, ties to even, and wrapped. It
// panics with ErrRange if v is infinite.
func FromBigFloat(v *big.Float) Q43 {
	if v.IsInf() {
		panic(ErrRange)
	}
	x, _ := fromBigFloat(v)
	return x
}

// FromBigFloatChecked returns v rounded to nearest, ties to even, or ErrRange.
func FromBigFloatChecked(v *big.Float) (Q43, error) {
	if v.IsInf() {
		return 0, ErrRange
	}
	return checked(fromBigFloat(v))
}

func fromBigFloat(v *big.Float) (Q43, bool) {
	// v = m·2ᵉ with an integer m of p bits. The size of the integers below is
	// in proportion to p, whatever the exponent.
	p := int(v.MinPrec())
	e := v.MantExp(nil) - p
	switch {
	case p == 0 || e+p < -FracBits: // |v| < 2⁻⁴⁴
		return 0, true
	case e >= 64-FracBits: // a multiple of 2²¹
		return 0, false
	}
	m, _ := new(big.Float).SetMantExp(v, -e).Int(nil)
	if s := e + FracBits; s >= 0 {
		return fromBig(m.Lsh(m, uint(s)))
	} else {
		return fromBig(quoRound(m, new(big.Int).Lsh(big.NewInt(1), uint(-s))))
	}
}

// BigFloat returns x, exactly, with a precision of 64 bits.
func (x Q43) BigFloat() *big.Float {
	v := new(big.Float).SetInt64(int64(x))
	return v.SetMantExp(v, -FracBits)
}

// quoRound returns n/d rounded to nearest, ties to even. d is positive.
func quoRound(n, d *big.Int) *big.Int {
	q, r := new(big.Int).DivMod(n, d, new(big.Int)) // 0 <= r < d
	if c := r.Lsh(r, 1).Cmp(d); c > 0 || c == 0 && q.Bit(0) != 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// fromBig returns the number i·2⁻⁴³, wrapped. It reports whether the number is in
// range.
func fromBig(i *big.Int) (Q43, bool) {
	ok := i.IsInt64()
	low := new(big.Int).And(i, new(big.Int).SetUint64(math.MaxUint64))
	return Q43(low.Uint64()), ok
}
