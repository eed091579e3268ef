package rev

import (
	"fmt"
	"reflect"
	"strings"

	"revnum/fixed"
)

// A Checker is a kernel that can look for overflows of fixed-point numbers. Of package revlinalg, pointers
// to Axpy, Dot, MatMul, MulElem and SumSquares are.
type Checker interface {
	// RunChecked is Run for Forward, or Inverse if back is set. If an element of a result is out of range, it
	// changes nothing and returns an *OverflowError of the first of these. The operands have been checked.
	RunChecked(back bool) error
}

// ForwardChecked is [Forward] for a kernel whose pointer is a [Checker]. Over fixed.Q43 sums wrap without a
// word. If the exact value of an element of y + f(x), rounded as the kernel rounds it, is not in [-2²⁰, 2²⁰),
// ForwardChecked changes nothing and returns an [*OverflowError]. Otherwise it leaves the bits of Forward. Sums
// on the way may be out of range. Over other numbers it is Forward.
//
// It runs on one core. With AVX-512, loops look for overflows as they compute; without, elements are looked at
// one by one before. So they are where a result is within 2⁻⁹ of an end of the range, 2¹⁴ at a time. MatMul
// computes a product in float64 too, unless the bound k·max|A|·max|B| + max|C| excludes an overflow, and looks at
// elements near an end one by one. Operands move to the heap, and vectors with gaps are copied. If there is no
// Checker, the error is [ErrUnsupported].
func ForwardChecked[K Kernel[K]](k K) error { return runChecked(&k, false, "ForwardChecked") }

// InverseChecked is [Inverse] as [ForwardChecked] is Forward.
func InverseChecked[K Kernel[K]](k K) error { return runChecked(&k, true, "InverseChecked") }

func runChecked[K Kernel[K]](k *K, back bool, pass string) error {
	c, ok := any(k).(Checker)
	if !ok {
		return &Unsupported{reflect.TypeFor[K]().String(), pass}
	}
	mustCheck(k, nil, nil, nil)
	return c.RunChecked(back)
}

// OverflowError says which element of a result is the first that is out of range. It is fixed.ErrRange by
// errors.Is. The kernel has changed nothing.
type OverflowError struct {
	Kernel  string // its type
	Operand string // the name of the field
	Index   []int  // of the element: none of a number, one of a vector, the row and the column of a matrix
}

// Overflow returns the error of an element of an operand of the kernel type K.
func Overflow[K any](operand string, index ...int) *OverflowError {
	return &OverflowError{reflect.TypeFor[K]().String(), operand, index}
}

// Element returns the name of the element, as in "Y[3]" or "C[1,2]".
func (e *OverflowError) Element() string {
	if len(e.Index) == 0 {
		return e.Operand
	}
	return e.Operand + strings.ReplaceAll(fmt.Sprint(e.Index), " ", ",")
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("%v: %s of %s", fixed.ErrRange, e.Element(), e.Kernel)
}

// Unwrap returns fixed.ErrRange.
func (e *OverflowError) Unwrap() error { return fixed.ErrRange }
