// Package num has what kernels that cmd/revgen writes use: quotients, functions and
// sums of vectors over float32, float64 and fixed.Q43; access to operands that may be
// nil, copies, tapes, and loops on several workers, over complex128 too.
//
// In floating point the functions come from package math, rounded to the type. Logarithms and
// powers of subnormal numbers, which math.Log gets wrong on amd64, are right here. In
// fixed point they come from package fixed, but do not panic. Each function
// says what it returns outside its domain or range. A kernel therefore runs on any
// numbers, as it does over floats.
package num

import (
	"fmt"
	"math"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
)

// isFixed is a constant for each T, so that the branch not taken costs nothing.
func isFixed[T rev.Real]() bool { return T(1)/2 == 0 }

// apply returns f(x), or in fixed point q(x). It is inlined, so that only a direct call of
// one of them is left.
func apply[T rev.Real](x T, f func(float64) float64, q func(fixed.Q43) fixed.Q43) T {
	if T(1)/2 != 0 {
		return T(f(float64(x)))
	}
	return T(q(fixed.Q43(x)))
}

// apply2 is either for functions of two numbers.
func apply2[T rev.Real](x, y T, f func(x, y float64) float64, q func(x, y fixed.Q43) fixed.Q43) T {
	if T(1)/2 != 0 {
		return T(f(float64(x), float64(y)))
	}
	return T(q(fixed.Q43(x), fixed.Q43(y)))
}

// Quotient returns x/y; in fixed point 0 for y = 0.
func Quotient[T rev.Real](x, y T) T {
	if T(1)/2 != 0 {
		return x / y
	}
	return T(quotient(fixed.Q43(x), fixed.Q43(y)))
}

// Over returns x/y, and 0 for y = 0.
func Over[T rev.Real](x, y T) T {
	if T(1)/2 != 0 && y != 0 {
		return x / y
	}
	return T(quotient(fixed.Q43(x), fixed.Q43(y))) // which is 0 for y = 0
}

//go:noinline
func quotient(x, y fixed.Q43) fixed.Q43 {
	if y == 0 {
		return 0
	}
	return x.Div(y)
}

// Int returns the number n.
func Int[T rev.Real](n int) T {
	if isFixed[T]() {
		return T(int64(n) << fixed.FracBits)
	}
	return T(n)
}

// Largest returns the largest finite T.
func Largest[T rev.Real]() T {
	if unsafe.Sizeof(T(0)) == 4 {
		return fixed.Of[T](math.MaxFloat32)
	}
	return fixed.Of[T](math.MaxFloat64)
}

// Sign returns -1, 0 or 1, the derivative of Abs.
func Sign[T rev.Real](x T) T {
	switch {
	case x > 0:
		return fixed.Of[T](1)
	case x < 0:
		return fixed.Of[T](-1)
	}
	return 0
}

// At returns x[i], or 0 if x is nil.
func At[T any](x []T, i int) (v T) {
	if x != nil {
		v = x[i]
	}
	return v
}

// Deref returns *p, or 0 if p is nil.
func Deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// Index returns i. It panics with a *rev.OperandError that is mat.ErrRowAccess unless
// 0 <= i < n.
func Index(i, n int) int {
	if uint(i) >= uint(n) {
		panic(outOfRange(i, n))
	}
	return i
}

// outOfRange is not a part of Index, so that the compiler can inline Index.
//
//go:noinline
func outOfRange(i, n int) error {
	return &rev.OperandError{Kernel: "a written kernel", Operand: "an index", Reason: fmt.Sprintf("is %d, want 0 to %d", i, n-1), Err: mat.ErrRowAccess}
}

// OrZero returns x[i], or 0 if x has no such element.
func OrZero[T any](x []T, i int) (v T) {
	if uint(i) < uint(len(x)) {
		v = x[i]
	}
	return v
}

// Elements returns the elements of v, which is contiguous. It is nil if v is.
func Elements[T any](v rev.Vector[T]) []T {
	if v.Data == nil {
		return nil
	}
	return v.Data[:len(v.Data):len(v.Data)][:v.N] // not past the end of short data
}

// Rows returns the data of m up to its last element, or nil if m is nil. A row that ends
// after it panics. If m has no columns, Rows returns all data.
func Rows[T any](m rev.General[T]) []T {
	n := len(m.Data)
	if m.Rows != 0 && m.Cols != 0 && m.Data != nil {
		n = (m.Rows-1)*m.Stride + m.Cols
	}
	return m.Data[:len(m.Data):len(m.Data)][:n:n] // not past the end of short data
}

// Row returns row i of m. It is nil if m is nil or has no such row.
func Row[T any](m rev.General[T], i int) []T {
	if uint(i) >= uint(m.Rows) || m.Cols == 0 || m.Data == nil {
		return nil
	}
	return m.Data[i*m.Stride : len(m.Data) : len(m.Data)][:m.Cols]
}
