package objective

import (
	"fmt"
	"math"
	"reflect"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// CheckLen panics with an *rev.OperandError that wraps mat.ErrShape unless an argument of
// a method of the given type has the wanted length.
func CheckLen(of, argument string, have, want int) {
	if have != want {
		panic(misuse(of, argument, mat.ErrShape, "has %d elements, want %d", have, want))
	}
}

// CheckDims is CheckLen for a matrix of r rows and c columns.
func CheckDims(of, argument string, r, c, rows, cols int) {
	if r != rows || c != cols {
		panic(misuse(of, argument, mat.ErrShape, "is %d×%d, want %d×%d", r, c, rows, cols))
	}
}

// CheckNonNegative panics with an *rev.OperandError that wraps
// mat.ErrNegativeDimension if a number of something is negative.
func CheckNonNegative(of, argument string, n int) {
	if n < 0 {
		panic(misuse(of, argument, mat.ErrNegativeDimension, "is %d", n))
	}
}

func misuse(of, argument string, err error, format string, args ...any) *rev.OperandError {
	return &rev.OperandError{Kernel: of, Operand: argument, Reason: fmt.Sprintf(format, args...), Err: err}
}

// IndexError returns the error of an index, number i of a list, that is not one of n. It wraps
// mat.ErrRowAccess.
func IndexError(of, list string, i, index, n int) *rev.OperandError {
	return misuse(of, list, mat.ErrRowAccess, "has %d at %d, want 0 to %d", index, i, n-1)
}

// CheckStorage panics with an *rev.OperandError that wraps mat.ErrShape unless n elements
// of storage hold rows of the given number of columns, with the given stride.
func CheckStorage(of, argument string, n, rows, cols, stride int) {
	if rows > 0 && (stride < cols || n < (rows-1)*stride+cols) {
		panic(misuse(of, argument, mat.ErrShape, "has %d elements for %d rows of %d with a stride of %d", n, rows, cols, stride))
	}
}

// CheckFinite returns an error that names the first element of x that is not finite. It
// begins with what x is.
func CheckFinite(what string, x rev.General[float64]) error {
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s has %v in row %d, column %d", what, v, i, j)
			}
		}
	}
	return nil
}

// CheckWeights returns the largest weight of n points, or 1 if that is larger or w is nil.
// It returns an error unless w is nil or has n weights, at least one of them positive. The
// error begins with the name of a package.
func CheckWeights(of string, w []float64, n int) (heaviest float64, err error) {
	if w == nil {
		return 1, nil
	}
	if len(w) != n {
		return 0, fmt.Errorf("%s: %d weights for %d points", of, len(w), n)
	}
	var sum float64
	for i, v := range w {
		if !(v >= 0 && v <= 1e100) {
			return 0, fmt.Errorf("%s: weight %d is %v, want a number from 0 to 1e100", of, i, v)
		}
		heaviest = max(heaviest, v)
		sum += v
	}
	if sum == 0 {
		return 0, fmt.Errorf("%s: all weights are 0", of)
	}
	return max(heaviest, 1), nil
}

// Name returns the name of a value of an enumeration, or its type and number if it has
// none.
func Name[E ~int](e E, names []string) string {
	if e < 0 || int(e) >= len(names) {
		return fmt.Sprintf("%s(%d)", reflect.TypeFor[E]().Name(), int(e))
	}
	return names[e]
}
