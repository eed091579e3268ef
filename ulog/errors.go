package ulog

import (
	"errors"
	"fmt"
	"math"
)

// What the errors of the checked forms wrap, and what the operations on Fixed
// panic with.
var (
	ErrDivideByZero = errors.New("division by zero")
	ErrNegative     = errors.New("negative number has no logarithm")
	ErrRange        = errors.New("logarithm out of range")
	ErrUndefined    = errors.New("undefined")
	ErrNaN          = errors.New("operand is not a number")
	ErrInexact      = errors.New("logarithm is not a multiple of the exponent")
	ErrSyntax       = errors.New("invalid syntax")
)

// errOp returns the error of x op y, nil if err is. Its operands are boxed for
// an error only.
func errOp[X, Y any](x X, op string, y Y, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("ulog: %v %s %v: %w", x, op, y, err)
}

// fault returns what is wrong with the log r of an operation whose operands
// are a and b, one of them possibly an exponent: NaN, or infinite although the
// operands are finite.
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

// faultDiv is fault for the quotient of numbers with the logs a and b.
func faultDiv(r, a, b float64) error {
	if math.IsInf(b, -1) && a > b {
		return ErrDivideByZero
	}
	return fault(r, a, b)
}

// faultSum returns what is wrong with the log r of the sum of numbers of
// either sign with the logs a and b.
func faultSum(r, a, b float64) error {
	switch {
	case a != a || b != b:
		return ErrNaN
	case r != r:
		return ErrUndefined
	}
	return nil
}

// faultSub returns what is wrong with the difference of the numbers with the
// logs a and b.
func faultSub(a, b float64) error {
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

// faultPow is fault for the power p of a number with the log a.
func faultPow(r, a, p float64) error {
	if math.IsInf(a, -1) && p < 0 {
		return ErrDivideByZero
	}
	return fault(r, a, p)
}
