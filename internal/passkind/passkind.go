// Package passkind names the passes of kernels and types of numbers, for functions that cmd/revgen
// writes.
package passkind

import (
	"unsafe"

	"revnum/internal/number"
)

// A Kind is the sum of a pass, a type of numbers and a type of indices. It says what a function does
// and what its arguments are.
type Kind int

// The passes, with the arguments after the kernel.
const (
	Forward        Kind = 8 * iota
	Inverse             //
	Adjoint             // g
	Tangent             // t
	AdjointTangent      // g, t, gt
	Checked             // a rev.Pass over operands that have been checked
)

// The types.
const (
	Float64 Kind = iota
	Float32
	Q43
	Complex128

	Int   Kind = 0
	Int32 Kind = 4
)

// Of returns the type T. It is a constant for each T.
func Of[T number.Number]() Kind {
	switch {
	case unsafe.Sizeof(T(0)) == 4:
		return Float32
	case number.IsComplex[T]():
		return Complex128
	case number.IsFixed[T]():
		return Q43
	}
	return Float64
}

// OfIndex returns the type I. Where int has 64 bits, it is a constant for each I.
func OfIndex[I int | int32]() Kind {
	if unsafe.Sizeof(I(0)) != 4 {
		return Int
	}
	if unsafe.Sizeof(0) == 4 {
		if _, ok := any(I(0)).(int); ok {
			return Int
		}
	}
	return Int32
}
