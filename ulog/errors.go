package ulog

import (
	"errors"
	"fmt"
	"math"
)

// The errors of the checked forms, and the panics of the operations on Fixed, wrap
// these errors.
var (
	ErrDivideByZero = errors.New("division by zero")
	ErrNegative     = errors.New("negative number has no logarithm")
	ErrRange        = errors.New("logarithm out of range")
	ErrUndefined    = errors.New("undefined")
	ErrNaN          = errors.New("operand is not a number")
	ErrInexact      = errors.New("logarithm is not a multiple of the exponent")
	ErrSyntax       = errors.New("invalid syntax")
)

// errOp returns the error of x op y, or nil if err is nil. It boxes the operands
// only for an error.
func errOp[X, Y any](x X, op string, y Y, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("ulog: %v %s %v: %w", x, op, y, err)
}

// fault returns the error of an operation on a and b whose result has the log r. a and b
// are logs, or one of them is an exponent. It is an error if r is NaN, or if r is infinite
// although the operands are finite.
func fault(r, a, b float64) error {
	switch {
	case a != a || b != b:
		return ErrNaN
	case r != r:
		return ErrUndefined
	case math.IsInf(r, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0):
		return ErrRange
	}
	return nil
}

// faultDiv is like fault, for the quotient of the numbers with the logs a and b.
func faultDiv(r, a, b float64) error {
	if math.IsInf(b, -1) && a > b {
		return ErrDivideByZero
	}
	return fault(r, a, b)
}

// faultSum returns the error of a sum with the log r. The two numbers have the logs a and b
// and either sign.
func faultSum(r, a, b float64) error {
	switch {
	case a != a || b != b:
		return ErrNaN
	case r != r:
		return ErrUndefined
	}
	return nil
}

// faultSub returns the error of the difference of the numbers with the logs a and b.
func faultSub(_, a, b float64) error {
	switch {
	case a != a || b != b:
		return ErrNaN
	case a < b:
		return ErrNegative
	case math.IsInf(b, 1):
		return ErrUndefined
	}
	return nil
}

// faultPow is like fault, for the power p of a number with the log a.
func faultPow(r, a, p float64) error {
	if math.IsInf(a, -1) && p < 0 {
		return ErrDivideByZero
	}
	return fault(r, a, p)
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
