package ulog

import (
	"fmt"

	"revnum/fixed"
)

// The operations in place on Fixed. Each is a bijection of the numbers for which it is
// defined, and is followed by its inverse. For other numbers they panic or return an error,
// and leave x as it was.

// MulAssign sets x to x·y. DivAssign undoes it to the bit, even where the log wraps.
// MulAssign panics if y is zero.
func (x *Fixed) MulAssign(y Fixed) {
	if y.IsZero() {
		panic(errOp(*x, "*=", y, ErrDivideByZero))
	}
	*x = x.Mul(y)
}

// DivAssign sets x to x/y. MulAssign undoes it to the bit, even where the log wraps.
// DivAssign panics if y is zero.
func (x *Fixed) DivAssign(y Fixed) {
	*x = x.Div(y)
}

// MulPowAssign sets x to x·yⁿ. DivPowAssign undoes it to the bit for every n, even
// where the logs wrap. MulPowAssign panics if y is zero.
func (x *Fixed) MulPowAssign(y Fixed, n int64) {
	if y.IsZero() {
		panic(errOp(*x, "*=", y, ErrDivideByZero))
	}
	*x = x.Mul(y.PowInt(n))
}

// DivPowAssign sets x to x/yⁿ. MulPowAssign undoes it to the bit for every n, even
// where the logs wrap. DivPowAssign panics if y is zero.
func (x *Fixed) DivPowAssign(y Fixed, n int64) {
	if y.IsZero() {
		panic(errOp(*x, "/=", y, ErrDivideByZero))
	}
	*x = x.Div(y.PowInt(n))
}

// PowAssign sets x to xⁿ. RootAssign undoes it to the bit. PowAssign returns an
// error if the log of the power overflows, because a wrapped power has several
// roots. It also returns an error if n is zero, or if x is zero and n negative.
func (x *Fixed) PowAssign(n int64) error {
	if n == 0 {
		return errOp(*x, "^=", n, ErrUndefined)
	}
	r, err := x.PowIntChecked(n)
	if err == nil {
		*x = r
	}
	return err
}

// RootAssign sets x to x^(1/n). PowAssign undoes it to the bit. RootAssign returns
// an error if n does not divide the log (BufferedPow takes any log), if n is zero,
// or if x is zero and n negative.
func (x *Fixed) RootAssign(n int64) error {
	switch {
	case n == 0:
		return errOp(*x, "^= 1 /", n, ErrDivideByZero)
	case x.IsZero():
		_, err := x.powZero(int(max(-1, min(n, 1))))
		return err
	case int64(x.Log)%n != 0:
		return errOp(*x, "^= 1 /", n, ErrInexact)
	}
	x.Log = fixed.Q43(int64(x.Log) / n)
	return nil
}

// BufferedPow sets each x_i to x_i^(n/d), 0 < n <= d <= 2¹⁶. BufferedRoot undoes it to the
// bit for any logs. The division of the logs loses log2(d/n) bits for each number. The
// buffer keeps these bits. It must have the length of x.
//
// The new log is n/d times the old one, with an error below n units. For a power
// above 1, use both BufferedPow and PowAssign. BufferedPow returns an error, and
// changes nothing, if some x_i is zero.
func BufferedPow(b *fixed.Buffer, x []Fixed, n, d int) error {
	return buffered(b.Mul, x, n, d)
}

// BufferedRoot sets each x_i to x_i^(d/n). It undoes the last BufferedPow on the
// buffer. n and d must be those of that call.
func BufferedRoot(b *fixed.Buffer, x []Fixed, n, d int) error {
	return buffered(b.Div, x, n, d)
}

func buffered(step func(x []fixed.Q43, n, d int), x []Fixed, n, d int) error {
	for i, v := range x {
		if v.IsZero() {
			return fmt.Errorf("ulog: power %d/%d of element %d, which is 0: %w", n, d, i, ErrUndefined)
		}
	}
	step(FixedLogs(x), n, d)
	return nil
}
