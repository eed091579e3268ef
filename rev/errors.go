package rev

import (
	"errors"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// ErrOverlap is the error that an OperandError wraps if operands overlap and must
// not.
var ErrOverlap = errors.New("rev: operands overlap")

// OperandError says what is wrong with an operand of a kernel. A wrong operand is a
// bug of the caller, so the functions and methods that run kernels and programs
// panic with an *OperandError.
type OperandError struct {
	Step    string // path of the step in a program, if there is one
	Kernel  string // type of the kernel, or name of the function
	Operand string // name of the parameter or field, with the prefix "g.", "t." or "gt." in a kernel of derivatives
	Reason  string // what is wrong
	Err     error  // an error of gonum, such as mat.ErrShape, or ErrOverlap or errors.ErrUnsupported
}

func (e *OperandError) Error() string {
	s := fmt.Sprintf("%v: %s of %s %s", e.Err, e.Operand, e.Kernel, e.Reason)
	if e.Step != "" {
		s += " (" + e.Step + ")"
	}
	return s
}

// Unwrap returns e.Err.
func (e *OperandError) Unwrap() error { return e.Err }

// ShapeError returns the error with which Run panics if the shape of an operand is
// wrong in a way that no tag can say. The error wraps mat.ErrShape. K is the type of
// the kernel or of another value that the caller made, operand the name of its field or of
// a parameter, and format and args give the reason.
func ShapeError[K any](operand, format string, args ...any) *OperandError {
	return misuse((*K)(nil), mat.ErrShape, operand, format, args...)
}

// Misuse is ShapeError for another error of gonum, such as mat.ErrRowAccess for an index
// that is out of range.
func Misuse[K any](err error, operand, format string, args ...any) *OperandError {
	return misuse((*K)(nil), err, operand, format, args...)
}

// misuse is Misuse for a kernel that k points to, or would if it were not nil.
func misuse(k any, err error, operand, format string, args ...any) *OperandError {
	return &OperandError{Kernel: pointee(k).String(), Operand: operand, Reason: fmt.Sprintf(format, args...), Err: err}
}

// wrongArgument returns the error with which a function of this package panics if an argument, or a
// part of one, is wrong in a way that gonum has no error for.
func wrongArgument(function, argument, format string, args ...any) *OperandError {
	return &OperandError{Kernel: "rev." + function, Operand: argument, Reason: fmt.Sprintf(format, args...), Err: errors.ErrUnsupported}
}

// Violation is the error of a program that is not reversible on its state: a
// condition does not hold where it must, a loop changed its count, or an ancilla is
// not zero. The program returns it instead of a wrong state.
type Violation struct {
	Step   string // path of the step in the program, such as "Seq[2].While"
	Reason string // what must hold
	Value  any    // what was found
}

func (v *Violation) Error() string {
	return fmt.Sprintf("rev: %s: %s, found %v", v.Step, v.Reason, v.Value)
}

// StepError is any other error of a step, with the path of the step.
type StepError struct {
	Step string // path of the step in the program, such as "Seq[2].At(qr.QR)"
	Err  error  // the error of the kernel
}

func (e *StepError) Error() string { return fmt.Sprintf("rev: %s: %v", e.Step, e.Err) }

// Unwrap returns e.Err.
func (e *StepError) Unwrap() error { return e.Err }

// DomainError is the error of a function at an element where it has no value or no
// derivative, or where its value is out of the range of its numbers. The kernel has
// changed nothing.
type DomainError struct {
	Func  string    // the name of the function
	Args  []float64 // the arguments, a complex number as its real and imaginary part
	Index int       // the index of the element
	Order int       // the order of the missing derivative, 0 for the value
}

func (e *DomainError) Error() string {
	s := "rev: "
	if e.Order > 0 {
		s += fmt.Sprintf("derivative %d of ", e.Order)
	}
	args := make([]string, len(e.Args))
	for i, v := range e.Args {
		args[i] = fmt.Sprint(v)
	}
	return fmt.Sprintf("%s%s(%s) is not defined or out of range (element %d)", s, e.Func, strings.Join(args, ", "), e.Index)
}

// within returns err with step in front of its path, and nil if err is nil.
func within(step string, err error) error {
	switch e := err.(type) { //nolint:errorlint // a kernel's error may wrap those of a program of its own
	case nil:
		return nil
	case *Violation:
		return &Violation{step + "." + e.Step, e.Reason, e.Value}
	case *StepError:
		return &StepError{step + "." + e.Step, e.Err}
	case *OperandError:
		if e.Step != "" {
			step += "." + e.Step
		}
		at := *e
		at.Step = step
		return &at
	}
	return &StepError{step, err}
}
