package ulog

import (
	"fmt"

	"revnum/fixed"
)

// The operations in place on Fixed, each a bijection of the numbers it takes
// and beside its inverse. What has no inverse panics or is an error, and
// leaves x as it was.

// MulAssign sets x to x·y, which DivAssign undoes to the bit, even where the
// log wraps. It panics if y is zero.
func (x *Fixed) MulAssign(y Fixed) {
	if y.IsZero() {
		panic(errOp(*x, "*=", y, ErrDivideByZero))
	}
	*x = x.Mul(y)
}

// DivAssign sets x to x/y, which MulAssign undoes to the bit, even where the
// log wraps. It panics if y is zero.
func (x *Fixed) DivAssign(y Fixed) {
	*x = x.Div(y)
}

// MulPowAssign sets x to x·yⁿ, which DivPowAssign undoes to the bit for every
// n, even where the logs wrap. It panics if y is zero.
func (x *Fixed) MulPowAssign(y Fixed, n int64) {
	if y.IsZero() {
		panic(errOp(*x, "*=", y, ErrDivideByZero))
	}
	*x = x.Mul(y.PowInt(n))
}

// DivPowAssign sets x to x/yⁿ, which MulPowAssign undoes to the bit for every
// n, even where the logs wrap. It panics if y is zero.
func (x *Fixed) DivPowAssign(y Fixed, n int64) {
	if y.IsZero() {
		panic(errOp(*x, "/=", y, ErrDivideByZero))
	}
	*x = x.Div(y.PowInt(n))
}

// PowAssign sets x to xⁿ, which RootAssign undoes to the bit. It is an error
// if the log of the power overflows (a wrapped one has several roots), if n is
// zero, or if x is zero and n negative.
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

// RootAssign sets x to x^(1/n), which PowAssign undoes to the bit. It is an
// error if n does not divide the log (BufferedPow takes any log), if n is
// zero, or if x is zero and n negative.
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

// BufferedPow sets each x_i to x_i^(n/d), 0 < n <= d <= 2¹⁶, which
// BufferedRoot undoes to the bit whatever the logs are: what the division of
// the logs loses, log2(d/n) bits for each number, goes to the buffer, which
// must be of the length of x. The log is n/d of what it was with an error
// below n units. A power above 1 is two steps, this and PowAssign. It is an
// error if some x_i is zero; then nothing is changed.
func BufferedPow(b *fixed.Buffer, x []Fixed, n, d int) error {
	return buffered(b.Mul, x, n, d)
}

// BufferedRoot sets each x_i to x_i^(d/n): it undoes the last BufferedPow on
// the buffer, whose n and d these must be.
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
