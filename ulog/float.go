package ulog

import (
	"cmp"
	"math"
)

// Float is the number e^Log, which may be any non-negative number. Its relative
// accuracy is the absolute accuracy of its log. Zero has the log -Inf and infinity
// the log +Inf. A NaN log is not a number. The zero value is 1, where products
// start. Operations whose results are rounded compute the log in float64, and round it
// to L.
type Float[L float32 | float64] struct {
	Log L
}

type (
	// Float64 is a number whose log is a float64.
	Float64 = Float[float64]

	// Float32 is a number whose log is a float32.
	Float32 = Float[float32]
)

// NewFloat64 returns x. The log is one of the two float64 around the exact one.
// NewFloat64 returns NaN for x < 0.
func NewFloat64(x float64) Float64 { return Float64{log(x)} }

// NewFloat32 returns x, with the log rounded to nearest. It returns NaN for x < 0.
func NewFloat32(x float64) Float32 { return Float32{float32(log(x))} }

// NewFloat64Checked is like NewFloat64, but returns an error for x < 0 and NaN.
func NewFloat64Checked(x float64) (Float64, error) {
	return NewFloat64(x), errOp(x, "as", "Float64", faultFloat(x))
}

// NewFloat32Checked is like NewFloat32, but returns an error for x < 0 and NaN.
func NewFloat32Checked(x float64) (Float32, error) {
	return NewFloat32(x), errOp(x, "as", "Float32", faultFloat(x))
}

// Float64 returns e^Log, with an error below 0.54 ulp of the result. Out of the
// range of float64, it is +Inf or 0.
func (x Float[L]) Float64() float64 { return exp(float64(x.Log)) }

// IsZero reports whether x is 0.
func (x Float[L]) IsZero() bool { return math.IsInf(float64(x.Log), -1) }

// IsNaN reports whether x is not a number.
func (x Float[L]) IsNaN() bool { return x.Log != x.Log } //nolint:gocritic // L is a type parameter, so math.IsNaN does not take it

// Mul returns x·y. It adds the logs and rounds once. 0·∞ is NaN.
func (x Float[L]) Mul(y Float[L]) Float[L] { return Float[L]{x.Log + y.Log} }

// Div returns x/y. It subtracts the logs and rounds once. x/0 is +Inf for x > 0;
// 0/0 and ∞/∞ are NaN.
func (x Float[L]) Div(y Float[L]) Float[L] { return Float[L]{x.Log - y.Log} }

// Inv returns 1/x, exactly.
func (x Float[L]) Inv() Float[L] { return Float[L]{-x.Log} }

// Pow returns xᵖ. It multiplies the log by p and rounds. As for math.Pow, x⁰
// = 1 and 1ᵖ = 1 for every x and p; 0ᵖ is +Inf for p < 0.
func (x Float[L]) Pow(p float64) Float[L] { return Float[L]{L(logPow(float64(x.Log), p))} }

// Sqrt returns √x, exactly unless the log is subnormal.
func (x Float[L]) Sqrt() Float[L] { return Float[L]{x.Log / 2} }

// Add returns x + y.
func (x Float[L]) Add(y Float[L]) Float[L] {
	return Float[L]{L(logAdd(float64(x.Log), float64(y.Log)))}
}

// Sub returns x - y. The result is NaN if the difference is negative, and for ∞ -
// ∞.
func (x Float[L]) Sub(y Float[L]) Float[L] {
	return Float[L]{L(logSub(float64(x.Log), float64(y.Log)))}
}

// Cmp returns -1, 0 or +1 as x is less than, equal to or greater than y. NaN
// is equal to NaN and less than every number, as for cmp.Compare.
func (x Float[L]) Cmp(y Float[L]) int { return cmp.Compare(x.Log, y.Log) }

// MulAssign sets x to x·y. DivAssign undoes it up to rounding.
func (x *Float[L]) MulAssign(y Float[L]) { x.Log += y.Log }

// DivAssign sets x to x/y. MulAssign undoes it up to rounding.
func (x *Float[L]) DivAssign(y Float[L]) { x.Log -= y.Log }

// PowAssign sets x to xᵖ. RootAssign undoes it up to rounding, if p is neither
// 0 nor infinite.
func (x *Float[L]) PowAssign(p float64) { *x = x.Pow(p) }

// RootAssign sets x to x^(1/p). It divides the log by p. PowAssign undoes it up
// to rounding.
func (x *Float[L]) RootAssign(p float64) { x.Log = L(float64(x.Log) / p) }

// MulChecked is like Mul, but returns an error for 0·∞, NaN, and a log that
// overflows.
func (x Float[L]) MulChecked(y Float[L]) (Float[L], error) {
	return x.checked("*", y, x.Mul(y), fault)
}

// checked returns r = x op y, and the error that it is.
func (x Float[L]) checked(op string, y, r Float[L], fault func(r, x, y float64) error) (Float[L], error) {
	return r, errOp(x, op, y, fault(float64(r.Log), float64(x.Log), float64(y.Log)))
}

// DivChecked is like Div, but returns an error for a division by zero, ∞/∞, NaN,
// and a log that overflows.
func (x Float[L]) DivChecked(y Float[L]) (Float[L], error) {
	return x.checked("/", y, x.Div(y), faultDiv)
}

// InvChecked is like Inv, but returns an error for zero and NaN.
func (x Float[L]) InvChecked() (Float[L], error) {
	return Float[L]{}.checked("/", x, x.Inv(), faultDiv)
}

// PowChecked is like Pow, but returns an error for zero to a negative power, NaN,
// and a log that overflows.
func (x Float[L]) PowChecked(p float64) (Float[L], error) {
	r := x.Pow(p)
	return r, errOp(x, "^", p, faultPow(float64(r.Log), float64(x.Log), p))
}

// SqrtChecked is like Sqrt, but returns an error for NaN.
func (x Float[L]) SqrtChecked() (Float[L], error) {
	r := x.Sqrt()
	return r, errOp("√", "", x, fault(float64(r.Log), float64(x.Log), 0))
}

// AddChecked is like Add, but returns an error for NaN.
func (x Float[L]) AddChecked(y Float[L]) (Float[L], error) {
	return x.checked("+", y, x.Add(y), fault)
}

// SubChecked is like Sub, but returns an error for a negative difference, ∞ - ∞
// and NaN.
func (x Float[L]) SubChecked(y Float[L]) (Float[L], error) {
	return x.checked("-", y, x.Sub(y), faultSub)
}
