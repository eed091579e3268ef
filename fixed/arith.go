package fixed

import "math/bits"

// Mul returns x·y rounded to nearest, ties to even, and wrapped.
//
// Let x = x₁·2⁴³ + x₀ with 0 <= x₀ < 2⁴³. The product of the integers over 2⁴³ is
// x₁·y + x₀·y/2⁴³. The first term is a product of words. The second is the high word
// of f·y for f = x₀·2²¹. If y is negative, f is subtracted, because the machine's
// product takes y for y + 2⁶⁴. The low word of f·y is the part that is rounded away,
// in units of 2⁻⁶⁴. Its last 21 bits are zero, so the parity of the quotient can be
// put there to decide ties: the sum with 2⁶³-1 then carries exactly when the
// quotient must be rounded up.
//
// Product inlines Mul into generic code. It must therefore stay within the inliner's
// budget for all types of Product together.
func (x Q43) Mul(y Q43) Q43 {
	hi, lo := bits.Mul64(uint64(x<<(64-FracBits)), uint64(y))
	hi += uint64(x>>FracBits*y - y>>63&(x<<(64-FracBits)))
	_, lo = bits.Add64(lo|hi&1, 1<<63-1, 0)
	hi, _ = bits.Add64(hi, 0, lo) // an add with carry
	return Q43(hi)
}

// MulAdd returns x + a·b. The product is rounded as by Mul, and the sum wraps.
// MulSub undoes it.
func (x Q43) MulAdd(a, b Q43) Q43 { return x + a.Mul(b) }

// MulSub returns x - a·b. The product is rounded as by Mul, and the difference
// wraps. MulAdd undoes it.
func (x Q43) MulSub(a, b Q43) Q43 { return x - a.Mul(b) }

// Div returns x/y rounded to nearest, ties to even, and wrapped. If y is zero, it
// panics as the division of integers does.
func (x Q43) Div(y Q43) Q43 {
	q, _, _ := quotient(x, y)
	return q
}

// quotient returns x/y rounded to nearest even and wrapped. It reports whether the
// quotient is in range, and whether it is negative.
func quotient(x, y Q43) (q Q43, ok, negative bool) {
	n, d := magnitude(x), magnitude(y)
	negative = (x < 0) != (y < 0)
	hi, lo := n>>(64-FracBits), n<<FracBits
	ok = hi < d
	if !ok {
		hi %= d
	}
	m, r := bits.Div64(hi, lo, d)
	if r > d-r || r == d-r && m&1 != 0 {
		m++
		ok = ok && m != 0
	}
	q, fits := signed(m, negative)
	return q, ok && fits, negative
}

// product returns x·y rounded to nearest even and wrapped. It reports whether the
// product is in range.
func product(x, y Q43) (Q43, bool) {
	var a Accumulator
	a.AddMul(x, y)
	return a.round()
}

// Checked arithmetic returns the result of the wrapping form, or an error.

// AddChecked returns x + y, or ErrRange.
func (x Q43) AddChecked(y Q43) (Q43, error) {
	s := x + y
	if (s < x) != (y < 0) {
		return 0, ErrRange
	}
	return s, nil
}

// SubChecked returns x - y, or ErrRange.
func (x Q43) SubChecked(y Q43) (Q43, error) {
	d := x - y
	if (d > x) != (y < 0) {
		return 0, ErrRange
	}
	return d, nil
}

// MulChecked returns x·y rounded as by Mul, or ErrRange.
func (x Q43) MulChecked(y Q43) (Q43, error) { return checked(product(x, y)) }

// DivChecked returns x/y rounded as by Div. The error is ErrDivideByZero or
// ErrRange.
func (x Q43) DivChecked(y Q43) (Q43, error) {
	if y == 0 {
		return 0, ErrDivideByZero
	}
	q, ok, _ := quotient(x, y)
	return checked(q, ok)
}

// NegChecked returns -x, or ErrRange.
func (x Q43) NegChecked() (Q43, error) { return Q43(0).SubChecked(x) }

// AbsChecked returns |x|, or ErrRange.
func (x Q43) AbsChecked() (Q43, error) {
	if x < 0 {
		return x.NegChecked()
	}
	return x, nil
}

// Saturating arithmetic returns the exact result rounded as by the wrapping form, or
// the end of the range nearest to it.

// limit returns the end of the range on the given side of zero.
func limit(negative bool) Q43 {
	if negative {
		return Min
	}
	return Max
}

// saturated returns v if it is in range, and otherwise a limit.
func saturated(v Q43, inRange, negative bool) Q43 {
	if !inRange {
		return limit(negative)
	}
	return v
}

// AddSat returns x + y, or the end of the range nearest to it.
func (x Q43) AddSat(y Q43) Q43 {
	s, err := x.AddChecked(y)
	return saturated(s, err == nil, y < 0)
}

// SubSat returns x - y, or the end of the range nearest to it.
func (x Q43) SubSat(y Q43) Q43 {
	d, err := x.SubChecked(y)
	return saturated(d, err == nil, y > 0)
}

// MulSat returns x·y rounded as by Mul, or the end of the range nearest to it.
func (x Q43) MulSat(y Q43) Q43 {
	p, ok := product(x, y)
	return saturated(p, ok, (x < 0) != (y < 0))
}

// DivSat returns x/y rounded as by Div, or the end of the range nearest to it. It
// panics if y is zero, as Div does.
func (x Q43) DivSat(y Q43) Q43 {
	return saturated(quotient(x, y))
}

// NegSat returns -x, or Max for Min.
func (x Q43) NegSat() Q43 { return Q43(0).SubSat(x) }

// Abs returns |x|, wrapped: the result for Min is Min.
func (x Q43) Abs() Q43 {
	if x < 0 {
		return -x
	}
	return x
}

// AbsSat returns |x|, or Max for Min.
func (x Q43) AbsSat() Q43 {
	if x < 0 {
		return x.NegSat()
	}
	return x
}
