package fixed

import "math/bits"

// Accumulator is a sum of products that is rounded only when it is read. It holds an
// integer multiple of 2⁻⁸⁶ in 128 bits, and wraps at ±2⁴¹. Every product of two
// numbers is added exactly. A sum of one product of the largest numbers does not
// wrap, nor does one of 2²¹ products of numbers below 2¹⁰. A sum that wraps on the
// way is right if it ends in range.
//
// It adds integers. Such additions commute and associate, so the bits of a
// sum depend neither on its order nor on how it is divided among workers.
// Subtracting the same operands undoes them to the bit.
//
// The zero value is the empty sum. You may copy an Accumulator, and compare two with
// ==.
type Accumulator struct {
	hi, lo uint64 // the integer hi·2⁶⁴ + lo, in two's complement
}

// Add computes a += x.
func (a *Accumulator) Add(x Q43) {
	var c uint64
	a.lo, c = bits.Add64(a.lo, uint64(x)<<FracBits, 0)
	a.hi, _ = bits.Add64(a.hi, uint64(x>>(64-FracBits)), c)
}

// Sub computes a -= x.
func (a *Accumulator) Sub(x Q43) {
	var c uint64
	a.lo, c = bits.Sub64(a.lo, uint64(x)<<FracBits, 0)
	a.hi, _ = bits.Sub64(a.hi, uint64(x>>(64-FracBits)), c)
}

// AddMul computes a += x·y.
func (a *Accumulator) AddMul(x, y Q43) { a.hi, a.lo = addMul(a.hi, a.lo, x, y) }

// SubMul computes a -= x·y.
func (a *Accumulator) SubMul(x, y Q43) { a.hi, a.lo = subMul(a.hi, a.lo, x, y) }

// AddAcc computes a += b.
func (a *Accumulator) AddAcc(b Accumulator) {
	var c uint64
	a.lo, c = bits.Add64(a.lo, b.lo, 0)
	a.hi, _ = bits.Add64(a.hi, b.hi, c)
}

// SubAcc computes a -= b.
func (a *Accumulator) SubAcc(b Accumulator) {
	var c uint64
	a.lo, c = bits.Sub64(a.lo, b.lo, 0)
	a.hi, _ = bits.Sub64(a.hi, b.hi, c)
}

// AddWords computes a += (hi·2⁶⁴ + lo)·2⁻⁸⁶, for sums that other code has made.
func (a *Accumulator) AddWords(hi, lo uint64) { a.AddAcc(Accumulator{hi, lo}) }

// AddDot computes a += Σ x_i·y_i. It panics if y is shorter than x.
func (a *Accumulator) AddDot(x, y []Q43) {
	a.AddAcc(dot(x, y))
}

// SubDot computes a -= Σ x_i·y_i. It panics if y is shorter than x.
func (a *Accumulator) SubDot(x, y []Q43) {
	a.SubAcc(dot(x, y))
}

// Dot returns Σ x_i·y_i, rounded once, to nearest even, and wrapped. It panics if y
// is shorter than x.
func Dot(x, y []Q43) Q43 {
	return dot(x, y).Round()
}

// dot returns Σ x_i·y_i. Through the pointer of AddMul, the sum would be loaded and stored
// for each product.
func dot(x, y []Q43) Accumulator {
	y = y[:len(x)]
	var a Accumulator
	for i, v := range x {
		a.hi, a.lo = addMul(a.hi, a.lo, v, y[i])
	}
	return a
}

// Round returns the sum rounded to nearest, ties to even, and wrapped.
func (a Accumulator) Round() Q43 {
	q, _ := a.round()
	return q
}

// RoundChecked returns the sum rounded to nearest, ties to even, or ErrRange.
func (a Accumulator) RoundChecked() (Q43, error) { return checked(a.round()) }

// Over returns the sum divided by n > 0, rounded to nearest, ties away from zero, and
// wrapped.
func (a Accumulator) Over(n int) Q43 {
	negative := int64(a.hi) < 0
	if negative {
		var b uint64
		a.lo, b = bits.Sub64(0, a.lo, 0)
		a.hi, _ = bits.Sub64(0, a.hi, b)
	}
	hi := a.hi / uint64(n)
	lo, _ := bits.Div64(a.hi%uint64(n), a.lo, uint64(n))
	q := Q43(hi<<(64-FracBits)|lo>>FracBits) + Q43(lo>>(FracBits-1)&1)
	if negative {
		return -q
	}
	return q
}

// Sqrt returns the square root of the sum, rounded to nearest. If it is out of range, Sqrt
// returns Min.
func (a Accumulator) Sqrt() Q43 {
	if a.hi >= 1<<62 {
		return Min
	}
	return Q43(root(uint128(a)))
}

// round returns the sum rounded to nearest even and wrapped. It reports whether the
// sum is in range.
func (a Accumulator) round() (Q43, bool) {
	// Half a unit, less 2⁻⁸⁶ when the quotient is even, then the floor.
	lo, c := bits.Add64(a.lo, 1<<(FracBits-1)-1+a.lo>>FracBits&1, 0)
	hi := int64(a.hi + c)
	overflowed := hi < 0 && int64(a.hi) >= 0
	q := Q43(hi<<(64-FracBits)) | Q43(lo>>FracBits)
	return q, !overflowed && hi>>(FracBits-1) == int64(q>>63)
}
