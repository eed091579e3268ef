package rev

import (
	"fmt"
	"strings"

	"revnum/fixed"
)

// A Checker is a kernel that can look for overflows of fixed-point numbers. The comment of a kernel's method RunChecked says
// which elements it finds.
type Checker[K any] interface {
	Kernel[K]

	// RunChecked is Run for Forward, or Inverse if back is set. If an element of a result is out of range, it
	// changes nothing and returns an *OverflowError of the first of these. The operands have been checked.
	RunChecked(back bool) error
}

// ForwardChecked is [Forward] for a kernel that is a [Checker]. Over fixed.Q43 sums wrap without a word. If the exact
// value of an element of y + f(x), rounded as the kernel rounds it, is not in [-2²⁰, 2²⁰), ForwardChecked changes
// nothing and returns an [*OverflowError]. Otherwise it leaves the bits of Forward. Sums on the way may be out of range.
// Over other numbers it is Forward. It does not compile for a kernel that is no Checker.
//
// With AVX-512 and AVX2, loops look for overflows as they compute. With AVX-512, if a result of Axpy or MulElem is within 2⁻⁹
// of an end of the range, and with AVX2, if a product is beyond ±2¹⁹, up to 2¹⁴ elements around it are looked at one by one.
// Without vector code all elements are, but for products of matrices. An overflow costs a pass back, and some more time to find the element, which
// products of matrices compute element by element. Vectors with gaps are copied.
func ForwardChecked[K Checker[K]](k K) error {
	ForwardPass(&k)
	return k.RunChecked(false)
}

// InverseChecked is [Inverse] as [ForwardChecked] is Forward.
func InverseChecked[K Checker[K]](k K) error {
	InversePass(&k)
	return k.RunChecked(true)
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
	return &OverflowError{pointee((*K)(nil)).String(), operand, index}
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
