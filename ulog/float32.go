package ulog

import (
	"cmp"
	"math"
)

// Float32 is like Float64, with the log in a float32. Each operation computes the
// log in float64 and rounds it once.
type Float32 struct {
	Log float32
}

// NewFloat32 returns x, with the log rounded to nearest. It returns NaN for x < 0.
func NewFloat32(x float64) Float32 { return Float32{float32(log(x))} }

// NewFloat32Checked is like NewFloat32, but returns an error for x < 0 and NaN.
func NewFloat32Checked(x float64) (Float32, error) {
	r := NewFloat32(x)
	return r, errOp(x, "as", "Float32", faultFloat(x))
}

// Float64 returns e^Log, with an error below 0.54 ulp of the result. Out of the
// range of float64, it is +Inf or 0.
func (x Float32) Float64() float64 { return exp(float64(x.Log)) }

// IsZero reports whether x is 0.
func (x Float32) IsZero() bool { return x.Log == float32(math.Inf(-1)) }

// IsNaN reports whether x is not a number.
func (x Float32) IsNaN() bool { return x.Log != x.Log }

// Mul returns x·y. It adds the logs and rounds once. 0·∞ is NaN.
func (x Float32) Mul(y Float32) Float32 { return Float32{x.Log + y.Log} }

// Div returns x/y. It subtracts the logs and rounds once. x/0 is +Inf for x > 0;
// 0/0 and ∞/∞ are NaN.
func (x Float32) Div(y Float32) Float32 { return Float32{x.Log - y.Log} }

// Inv returns 1/x, exactly.
func (x Float32) Inv() Float32 { return Float32{-x.Log} }

// Pow returns xᵖ. It multiplies the log by p and rounds. As for math.Pow, x⁰ = 1
// and 1ᵖ = 1 for every x and p; 0ᵖ is +Inf for p < 0.
func (x Float32) Pow(p float64) Float32 { return Float32{float32(logPow(float64(x.Log), p))} }

// Sqrt returns √x, exactly unless the log is subnormal.
func (x Float32) Sqrt() Float32 { return Float32{x.Log / 2} }

// Add returns x + y.
func (x Float32) Add(y Float32) Float32 {
	return Float32{float32(logAdd(float64(x.Log), float64(y.Log)))}
}

// Sub returns x - y. The result is NaN if the difference is negative, and for ∞ -
// ∞.
func (x Float32) Sub(y Float32) Float32 {
	return Float32{float32(logSub(float64(x.Log), float64(y.Log)))}
}

// Cmp returns -1, 0 or +1 as x is less than, equal to or greater than y. NaN
// is equal to NaN and less than every number, as for cmp.Compare.
func (x Float32) Cmp(y Float32) int { return cmp.Compare(x.Log, y.Log) }

// MulAssign sets x to x·y. DivAssign undoes it up to rounding.
func (x *Float32) MulAssign(y Float32) { x.Log += y.Log }

// DivAssign sets x to x/y. MulAssign undoes it up to rounding.
func (x *Float32) DivAssign(y Float32) { x.Log -= y.Log }

// PowAssign sets x to xᵖ. RootAssign undoes it up to rounding, if p is neither
// 0 nor infinite.
func (x *Float32) PowAssign(p float64) { *x = x.Pow(p) }

// RootAssign sets x to x^(1/p). It divides the log by p. PowAssign undoes it up
// to rounding.
func (x *Float32) RootAssign(p float64) { x.Log = float32(float64(x.Log) / p) }

// MulChecked is like Mul, but returns an error for 0·∞, NaN, and a log that
// overflows.
func (x Float32) MulChecked(y Float32) (Float32, error) {
	r := x.Mul(y)
	return r, errOp(x, "*", y, fault(float64(r.Log), float64(x.Log), float64(y.Log)))
}

// DivChecked is like Div, but returns an error for a division by zero, ∞/∞, NaN,
// and a log that overflows.
func (x Float32) DivChecked(y Float32) (Float32, error) {
	r := x.Div(y)
	return r, errOp(x, "/", y, faultDiv(float64(r.Log), float64(x.Log), float64(y.Log)))
}

// InvChecked is like Inv, but returns an error for zero and NaN.
func (x Float32) InvChecked() (Float32, error) {
	r := x.Inv()
	return r, errOp(1, "/", x, faultDiv(float64(r.Log), 0, float64(x.Log)))
}

// PowChecked is like Pow, but returns an error for zero to a negative power, NaN,
// and a log that overflows.
func (x Float32) PowChecked(p float64) (Float32, error) {
	r := x.Pow(p)
	return r, errOp(x, "^", p, faultPow(float64(r.Log), float64(x.Log), p))
}

// SqrtChecked is like Sqrt, but returns an error for NaN.
func (x Float32) SqrtChecked() (Float32, error) {
	r := x.Sqrt()
	return r, errOp("√", "", x, fault(float64(r.Log), float64(x.Log), 0))
}

// AddChecked is like Add, but returns an error for NaN.
func (x Float32) AddChecked(y Float32) (Float32, error) {
	r := x.Add(y)
	return r, errOp(x, "+", y, fault(float64(r.Log), float64(x.Log), float64(y.Log)))
}

// SubChecked is like Sub, but returns an error for a negative difference, ∞ - ∞
// and NaN.
func (x Float32) SubChecked(y Float32) (Float32, error) {
	return x.Sub(y), errOp(x, "-", y, faultSub(float64(x.Log), float64(y.Log)))
}
