package ulog

import (
	"cmp"
	"math"
	"math/bits"

	"revnum/fixed"
)

// Fixed is the number e^Log with the log in fixed point. It is a positive number
// between 10^-455390 and 10^455390 with a relative accuracy of 2^-44, or zero, whose
// log is the reserved value ZeroLog. There is no infinity and no NaN; operations
// that would give one panic, as the division of an integer by zero does. The zero
// value is 1, where products start.
//
// # Where it wraps
//
// The logs of the 2⁶⁴-1 positive numbers are the integers modulo 2⁶⁴-1, in units of
// 2^-43. The numbers are a group under Mul, which adds the logs as ones' complement
// numbers are added. A product whose log overflows wraps silently, as integers do in
// Go, and Div still undoes it to the bit. MulAssign, DivAssign, MulPowAssign and
// DivPowAssign are therefore bijections for every operand but zero.
//
// xⁿ with n ≠ 0 is a bijection too, as long as it does not wrap. Where it would
// wrap, PowAssign returns an error: a power that shares a factor with 2⁶⁴-1 =
// 3·5·17·257·641·65537·6700417 has several roots. RootAssign undoes PowAssign. A
// root is exact only for logs that n divides; for other logs RootAssign returns an
// error. Fractional powers lose information. fixed.Buffer multiplies logs by a fraction and
// keeps it.
type Fixed struct {
	Log fixed.Q43
}

// ZeroLog is the Log of the Fixed zero.
const ZeroLog fixed.Q43 = math.MinInt64

var (
	fixedZero = Fixed{ZeroLog}
	fixedOne  = Fixed{}
)

// unit is the value of one unit of a Q43.
const unit = 0x1p-43

// NewFixed returns x. The log is within 0.501 of a unit. NewFixed panics if x is
// negative, infinite or NaN.
func NewFixed(x float64) Fixed { return must(NewFixedChecked(x)) }

// must returns v, or panics with err.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// NewFixedChecked is like NewFixed, but returns an error where NewFixed panics.
func NewFixedChecked(x float64) (Fixed, error) {
	err := faultFloat(x)
	switch {
	case math.IsInf(x, 1):
		err = ErrRange
	case x == 0:
		return fixedZero, nil
	case err == nil:
		k, hi, lo := logParts(x)
		return Fixed{fixed.Q43(k)*ln2Units + roundQ43(hi+(lo+float64(float64(k)*ln2Lo)))}, nil
	}
	return Fixed{}, errOp(x, "as", "Fixed", err)
}

// roundQ43 returns x in units, rounded to nearest even, for |x| < 2^8.
func roundQ43(x float64) fixed.Q43 { return fixed.Q43(math.RoundToEven(x / unit)) }

// Float64 returns the value, with an error below 1 ulp of the result. Out of the
// range of float64, it is +Inf or 0.
func (x Fixed) Float64() float64 {
	switch {
	case x.Log > 710<<43:
		return math.Inf(1)
	case x.Log < -746<<43:
		return 0
	}
	// log x = k·log 2 + r
	k := math.RoundToEven(float64(x.Log) * (unit / math.Ln2))
	r := float64(float64(x.Log-fixed.Q43(k)*ln2Units)*unit) - float64(k*ln2Lo)
	return scale(exp(r), int(k))
}

// IsZero reports whether x is 0.
func (x Fixed) IsZero() bool { return x.Log == ZeroLog }

// addLogs returns a + b modulo 2⁶⁴-1 in [-(2⁶³-1), 2⁶³-1]. It reports whether that
// differs from a + b.
func addLogs(a, b fixed.Q43) (fixed.Q43, bool) {
	s := a + b
	switch {
	case a > 0 && b > 0 && s < 0:
		return s + 1, true
	case a < 0 && b < 0 && (s >= 0 || s == ZeroLog):
		return s - 1, true
	}
	return s, false
}

// mulLog returns n·a modulo 2⁶⁴-1 in [-(2⁶³-1), 2⁶³-1]. It reports whether that
// differs from n·a.
func mulLog(a fixed.Q43, n int64) (fixed.Q43, bool) {
	hi, lo := bits.Mul64(magnitude(int64(a)), magnitude(n))
	return foldLog(hi, lo, (a < 0) != (n < 0))
}

// foldLog returns the integer with the words hi and lo, negated if neg, modulo
// 2⁶⁴-1. 2⁶⁴ is 1 modulo 2⁶⁴-1, so the integer is hi + lo.
func foldLog(hi, lo uint64, neg bool) (fixed.Q43, bool) {
	s, carry := bits.Add64(hi, lo, 0)
	s += carry
	r := fixed.Q43(s)
	if r < 0 {
		r++ // s - (2⁶⁴-1)
	}
	if neg {
		r = -r
	}
	return r, hi != 0 || lo > math.MaxInt64
}

// magnitude returns |n|.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// mul returns x·y. It reports whether the log wrapped.
func (x Fixed) mul(y Fixed) (Fixed, bool) {
	if x.IsZero() || y.IsZero() {
		return fixedZero, false
	}
	s, wrapped := addLogs(x.Log, y.Log)
	return Fixed{s}, wrapped
}

// div returns x/y for y ≠ 0. It reports whether the log wrapped.
func (x Fixed) div(y Fixed) (Fixed, bool) { return x.mul(Fixed{-y.Log}) }

// Mul returns x·y exactly. It adds the logs; the sum wraps.
func (x Fixed) Mul(y Fixed) Fixed {
	r, _ := x.mul(y)
	return r
}

// Div returns x/y exactly. It subtracts the logs; the difference wraps. It panics if
// y is zero.
func (x Fixed) Div(y Fixed) Fixed {
	if y.IsZero() {
		panic(errOp(x, "/", y, ErrDivideByZero))
	}
	r, _ := x.div(y)
	return r
}

// Inv returns 1/x, exactly. It panics if x is zero.
func (x Fixed) Inv() Fixed { return fixedOne.Div(x) }

// PowInt returns xⁿ exactly. It multiplies the log by n; the product wraps. x⁰ is 1
// for every x. It panics if x is zero and n negative.
func (x Fixed) PowInt(n int64) Fixed {
	r, err := x.PowIntChecked(n)
	if err != nil && x.IsZero() {
		panic(err)
	}
	return r
}

// Pow returns xᵖ. It multiplies the log by p and rounds once, to nearest even; the
// product wraps. x⁰ is 1 for every x. It panics if x is zero and p negative.
func (x Fixed) Pow(p fixed.Q43) Fixed {
	r, err := x.PowChecked(p)
	if err != nil && x.IsZero() {
		panic(err)
	}
	return r
}

// Sqrt returns √x. It halves the log and rounds to nearest even, so half of all
// results are exact.
func (x Fixed) Sqrt() Fixed {
	if x.IsZero() {
		return x
	}
	h := x.Log >> 1
	return Fixed{h + x.Log&h&1}
}

// Add returns x + y. The log is within 0.502 of a unit, and wraps.
func (x Fixed) Add(y Fixed) Fixed {
	r, _ := x.add(y)
	return r
}

func (x Fixed) add(y Fixed) (Fixed, bool) {
	a, b := x.Log, y.Log
	if a < b {
		a, b = b, a
	}
	d := uint64(a) - uint64(b)
	if d >= apartFixed || b == ZeroLog {
		return Fixed{a}, false
	}
	s, wrapped := addLogs(a, roundQ43(log1pexp(float64(float64(d)*unit))))
	return Fixed{s}, wrapped
}

// apartFixed is a distance of two logs, in units. At this distance and beyond, the
// smaller number is less than half a unit in the log of the larger.
const apartFixed = 31 << 43

// Sub returns x - y. The log is within 0.53 of a unit (0.51 if y < 0.9·x), and
// wraps. Sub panics if x < y.
func (x Fixed) Sub(y Fixed) Fixed {
	r, err := x.SubChecked(y)
	if err != nil && x.Log < y.Log {
		panic(err)
	}
	return r
}

// Cmp returns -1, 0 or +1 as x is less than, equal to or greater than y.
func (x Fixed) Cmp(y Fixed) int { return cmp.Compare(x.Log, y.Log) }

// MulChecked is like Mul, but returns an error if the log wraps.
func (x Fixed) MulChecked(y Fixed) (Fixed, error) {
	r, wrapped := x.mul(y)
	return r, errWrap(x, "*", y, wrapped)
}

// errWrap returns the error of x op y if its log wrapped.
func errWrap[X, Y any](x X, op string, y Y, wrapped bool) error {
	if !wrapped {
		return nil
	}
	return errOp(x, op, y, ErrRange)
}

// DivChecked is like Div, but returns an error if y is zero or the log wraps.
func (x Fixed) DivChecked(y Fixed) (Fixed, error) {
	if y.IsZero() {
		return fixedZero, errOp(x, "/", y, ErrDivideByZero)
	}
	r, wrapped := x.div(y)
	return r, errWrap(x, "/", y, wrapped)
}

// InvChecked is like Inv, but returns an error if x is zero.
func (x Fixed) InvChecked() (Fixed, error) { return fixedOne.DivChecked(x) }

// PowIntChecked is like PowInt, but returns an error if the log wraps, or x is
// zero and n negative.
func (x Fixed) PowIntChecked(n int64) (Fixed, error) {
	if x.IsZero() {
		return x.powZero(cmp.Compare(n, 0))
	}
	r, wrapped := mulLog(x.Log, n)
	return Fixed{r}, errWrap(x, "^", n, wrapped)
}

// PowChecked is like Pow, but returns an error if the log wraps, or x is zero and
// p negative.
func (x Fixed) PowChecked(p fixed.Q43) (Fixed, error) {
	if x.IsZero() {
		return x.powZero(cmp.Compare(p, 0))
	}
	// |log x|·|p| = hi:lo units of 2^-86. The lower half is rounded off.
	hi, lo := bits.Mul64(magnitude(int64(x.Log)), magnitude(int64(p)))
	rest := lo & (1<<43 - 1)
	hi, lo = hi>>43, hi<<(64-43)|lo>>43
	if rest > 1<<42 || rest == 1<<42 && lo&1 == 1 {
		var carry uint64
		lo, carry = bits.Add64(lo, 1, 0)
		hi += carry
	}
	r, wrapped := foldLog(hi, lo, (x.Log < 0) != (p < 0))
	return Fixed{r}, errWrap(x, "^", p, wrapped)
}

// powZero returns zero to a power of the given sign.
func (x Fixed) powZero(sign int) (Fixed, error) {
	switch {
	case sign > 0:
		return x, nil
	case sign == 0:
		return fixedOne, nil
	}
	return x, errOp(x, "^", "a negative power", ErrDivideByZero)
}

// AddChecked is like Add, but returns an error if the log wraps.
func (x Fixed) AddChecked(y Fixed) (Fixed, error) {
	r, wrapped := x.add(y)
	return r, errWrap(x, "+", y, wrapped)
}

// SubChecked is like Sub, but returns an error if the difference is negative or
// its log wraps.
func (x Fixed) SubChecked(y Fixed) (Fixed, error) {
	a, b := x.Log, y.Log
	d := uint64(a) - uint64(b)
	switch {
	case a < b:
		return fixedZero, errOp(x, "-", y, ErrNegative)
	case a == b:
		return fixedZero, nil
	case b == ZeroLog || d >= apartFixed:
		return x, nil
	}
	s, wrapped := addLogs(a, roundQ43(log1mexp(float64(float64(d)*unit))))
	return Fixed{s}, errWrap(x, "-", y, wrapped)
}
