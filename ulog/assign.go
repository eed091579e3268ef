package ulog

import "revnum/fixed"

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
// an error if n does not divide the log (fixed.Buffer multiplies any log by a fraction), if
// n is zero, or if x is zero and n negative.
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
