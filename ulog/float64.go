package ulog

import (
	"cmp"
	"math"
)

// Float64 is the number e^Log, which may be any non-negative number. Its relative
// accuracy is the absolute accuracy of its log. Zero has the log -Inf and infinity
// the log +Inf. A NaN log is not a number. The zero value is 1, where products
// start.
type Float64 struct {
	Log float64
}

// NewFloat64 returns x. The log is one of the two float64 around the exact one.
// NewFloat64 returns NaN for x < 0.
func NewFloat64(x float64) Float64 { return Float64{log(x)} }

// NewFloat64Checked is like NewFloat64, but returns an error for x < 0 and NaN.
func NewFloat64Checked(x float64) (Float64, error) {
	r := NewFloat64(x)
	return r, errOp(x, "as", "Float64", faultFloat(x))
}

// faultFloat returns the reason why x has no log, or nil.
func faultFloat(x float64) error {
	switch {
	case x != x:
		return ErrNaN
	case x < 0:
		return ErrNegative
	}
	return nil
}

// Float64 returns e^Log, with an error below 0.54 ulp of the result. Out of the
// range of float64, it is +Inf or 0.
func (x Float64) Float64() float64 { return exp(x.Log) }

// IsZero reports whether x is 0.
func (x Float64) IsZero() bool { return x.Log == math.Inf(-1) }

// IsNaN reports whether x is not a number.
func (x Float64) IsNaN() bool { return x.Log != x.Log }

// Mul returns x·y. It adds the logs and rounds once. 0·∞ is NaN.
func (x Float64) Mul(y Float64) Float64 { return Float64{x.Log + y.Log} }

// Div returns x/y. It subtracts the logs and rounds once. x/0 is +Inf for x > 0;
// 0/0 and ∞/∞ are NaN.
func (x Float64) Div(y Float64) Float64 { return Float64{x.Log - y.Log} }

// Inv returns 1/x, exactly.
func (x Float64) Inv() Float64 { return Float64{-x.Log} }

// Pow returns xᵖ. It multiplies the log by p and rounds once. As for math.Pow, x⁰
// = 1 and 1ᵖ = 1 for every x and p; 0ᵖ is +Inf for p < 0.
func (x Float64) Pow(p float64) Float64 { return Float64{logPow(x.Log, p)} }

// Sqrt returns √x, exactly unless the log is subnormal.
func (x Float64) Sqrt() Float64 { return Float64{x.Log / 2} }

// Add returns x + y.
func (x Float64) Add(y Float64) Float64 { return Float64{logAdd(x.Log, y.Log)} }

// Sub returns x - y. The result is NaN if the difference is negative, and for ∞ -
// ∞.
func (x Float64) Sub(y Float64) Float64 { return Float64{logSub(x.Log, y.Log)} }

// Cmp returns -1, 0 or +1 as x is less than, equal to or greater than y. NaN
// is equal to NaN and less than every number, as for cmp.Compare.
func (x Float64) Cmp(y Float64) int { return cmp.Compare(x.Log, y.Log) }

// MulAssign sets x to x·y. DivAssign undoes it up to rounding.
func (x *Float64) MulAssign(y Float64) { x.Log += y.Log }

// DivAssign sets x to x/y. MulAssign undoes it up to rounding.
func (x *Float64) DivAssign(y Float64) { x.Log -= y.Log }

// PowAssign sets x to xᵖ. RootAssign undoes it up to rounding, if p is neither
// 0 nor infinite.
func (x *Float64) PowAssign(p float64) { *x = x.Pow(p) }

// RootAssign sets x to x^(1/p). It divides the log by p. PowAssign undoes it up
// to rounding.
func (x *Float64) RootAssign(p float64) { x.Log /= p }

// MulChecked is like Mul, but returns an error for 0·∞, NaN, and a log that
// overflows.
func (x Float64) MulChecked(y Float64) (Float64, error) {
	r := x.Mul(y)
	return r, errOp(x, "*", y, fault(r.Log, x.Log, y.Log))
}

// DivChecked is like Div, but returns an error for a division by zero, ∞/∞, NaN,
// and a log that overflows.
func (x Float64) DivChecked(y Float64) (Float64, error) {
	r := x.Div(y)
	return r, errOp(x, "/", y, faultDiv(r.Log, x.Log, y.Log))
}

// InvChecked is like Inv, but returns an error for zero and NaN.
func (x Float64) InvChecked() (Float64, error) {
	r := x.Inv()
	return r, errOp(1, "/", x, faultDiv(r.Log, 0, x.Log))
}

// PowChecked is like Pow, but returns an error for zero to a negative power, NaN,
// and a log that overflows.
func (x Float64) PowChecked(p float64) (Float64, error) {
	r := x.Pow(p)
	return r, errOp(x, "^", p, faultPow(r.Log, x.Log, p))
}

// SqrtChecked is like Sqrt, but returns an error for NaN.
func (x Float64) SqrtChecked() (Float64, error) {
	r := x.Sqrt()
	return r, errOp("√", "", x, fault(r.Log, x.Log, 0))
}

// AddChecked is like Add, but returns an error for NaN.
func (x Float64) AddChecked(y Float64) (Float64, error) {
	r := x.Add(y)
	return r, errOp(x, "+", y, fault(r.Log, x.Log, y.Log))
}

// SubChecked is like Sub, but returns an error for a negative difference, ∞ - ∞
// and NaN.
func (x Float64) SubChecked(y Float64) (Float64, error) {
	return x.Sub(y), errOp(x, "-", y, faultSub(x.Log, y.Log))
}
