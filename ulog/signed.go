package ulog

import (
	"cmp"
	"errors"
	"math"
)

// Signed is the number e^Log, negated if Neg is set. It behaves as IEEE 754 does
// except in range and rounding. There are two zeros, two infinities, and NaN (a NaN
// log, with either sign). The zero value is 1.
type Signed struct {
	Log float64
	Neg bool
}

// NewSigned returns x. The log is one of the two float64 around the exact one.
func NewSigned(x float64) Signed { return Signed{log(math.Abs(x)), math.Signbit(x)} }

// Signed returns x as a signed number.
func (x Float[L]) Signed() Signed { return Signed{Log: float64(x.Log)} }

// Abs returns |x|.
func (x Signed) Abs() Float64 { return Float64{x.Log} }

// Float64 returns the value, with an error below 0.54 ulp of the result. Out of
// the range of float64, it is ±Inf or ±0.
func (x Signed) Float64() float64 {
	if x.Neg {
		return -exp(x.Log)
	}
	return exp(x.Log)
}

// Sign returns -1 if x is negative, +1 if it is positive, and 0 if it is zero or
// NaN.
func (x Signed) Sign() int {
	switch {
	case x.IsZero() || x.IsNaN():
		return 0
	case x.Neg:
		return -1
	}
	return 1
}

// IsZero reports whether x is 0 or -0.
func (x Signed) IsZero() bool { return x.Log == math.Inf(-1) }

// IsNaN reports whether x is not a number.
func (x Signed) IsNaN() bool { return x.Log != x.Log }

// Negate returns -x, exactly.
func (x Signed) Negate() Signed { return Signed{x.Log, !x.Neg} }

// Mul returns x·y. It adds the logs and rounds once. 0·∞ is NaN.
func (x Signed) Mul(y Signed) Signed { return Signed{x.Log + y.Log, x.Neg != y.Neg} }

// Div returns x/y. It subtracts the logs and rounds once. x/0 is ±Inf for x ≠ 0;
// 0/0 and ∞/∞ are NaN.
func (x Signed) Div(y Signed) Signed { return Signed{x.Log - y.Log, x.Neg != y.Neg} }

// Inv returns 1/x, exactly.
func (x Signed) Inv() Signed { return Signed{-x.Log, x.Neg} }

// Pow returns xᵖ. It multiplies the log by p and rounds once. The special cases
// are as in math.Pow: NaN for x < 0 and a finite p that is no integer.
func (x Signed) Pow(p float64) Signed {
	if !x.Neg {
		return Signed{logPow(x.Log, p), false}
	}
	whole := p == math.Trunc(p) // infinite too
	if !whole && !math.IsInf(x.Log, 0) {
		return Signed{Log: math.NaN()}
	}
	return Signed{logPow(x.Log, p), whole && math.Mod(p, 2) != 0 && !math.IsInf(p, 0)}
}

// Sqrt returns √x, exactly unless the log is subnormal. It returns NaN for x < 0,
// and -0 for -0.
func (x Signed) Sqrt() Signed {
	if x.Neg && !x.IsZero() {
		return Signed{Log: math.NaN()}
	}
	return Signed{x.Log / 2, x.Neg}
}

// Add returns x + y. A sum of opposite numbers is 0, and ∞ - ∞ is NaN.
func (x Signed) Add(y Signed) Signed {
	if x.Neg == y.Neg {
		return Signed{logAdd(x.Log, y.Log), x.Neg}
	}
	if x.Log < y.Log {
		x, y = y, x
	}
	return Signed{logSub(x.Log, y.Log), x.Neg && x.Log != y.Log}
}

// Sub returns x - y.
func (x Signed) Sub(y Signed) Signed { return x.Add(y.Negate()) }

// Cmp returns -1, 0 or +1 as x is less than, equal to or greater than y. -0 is equal
// to 0. NaN is equal to NaN and less than every number, as for cmp.Compare.
func (x Signed) Cmp(y Signed) int {
	switch {
	case x.IsNaN() && y.IsNaN():
		return 0
	case x.IsNaN():
		return -1
	case y.IsNaN():
		return 1
	}
	if c := cmp.Compare(x.Sign(), y.Sign()); c != 0 || x.IsZero() {
		return c
	}
	if x.Neg {
		x, y = y, x
	}
	return cmp.Compare(x.Log, y.Log)
}

// MulAssign sets x to x·y. DivAssign undoes it up to rounding.
func (x *Signed) MulAssign(y Signed) { *x = x.Mul(y) }

// DivAssign sets x to x/y. MulAssign undoes it up to rounding.
func (x *Signed) DivAssign(y Signed) { *x = x.Div(y) }

// MulChecked is like Mul, but returns an error for 0·∞, NaN, and a log that
// overflows.
func (x Signed) MulChecked(y Signed) (Signed, error) {
	return x.checked("*", y, x.Mul(y), fault)
}

// checked returns r = x op y, and the error that it is.
func (x Signed) checked(op string, y, r Signed, fault func(r, x, y float64) error) (Signed, error) {
	return r, errOp(x, op, y, fault(r.Log, x.Log, y.Log))
}

// DivChecked is like Div, but returns an error for a division by zero, ∞/∞, NaN,
// and a log that overflows.
func (x Signed) DivChecked(y Signed) (Signed, error) {
	return x.checked("/", y, x.Div(y), faultDiv)
}

// InvChecked is like Inv, but returns an error for zero and NaN.
func (x Signed) InvChecked() (Signed, error) {
	return Signed{}.checked("/", x, x.Inv(), faultDiv)
}

// PowChecked is like Pow, but returns an error for zero to a negative power, a
// negative number to a power that is not an integer, NaN, and a log that
// overflows.
func (x Signed) PowChecked(p float64) (Signed, error) {
	r := x.Pow(p)
	err := faultPow(r.Log, x.Log, p)
	if errors.Is(err, ErrUndefined) && x.Neg {
		err = ErrNegative
	}
	return r, errOp(x, "^", p, err)
}

// SqrtChecked is like Sqrt, but returns an error for a negative number and NaN.
func (x Signed) SqrtChecked() (Signed, error) {
	r := x.Sqrt()
	err := fault(r.Log, x.Log, 0)
	if x.Sign() < 0 {
		err = ErrNegative
	}
	return r, errOp("√", "", x, err)
}

// AddChecked is like Add, but returns an error for ∞ - ∞ and NaN.
func (x Signed) AddChecked(y Signed) (Signed, error) {
	return x.checked("+", y, x.Add(y), faultSum)
}

// SubChecked is like Sub, but returns an error for ∞ - ∞ and NaN.
func (x Signed) SubChecked(y Signed) (Signed, error) {
	return x.checked("-", y, x.Sub(y), faultSum)
}
