// Package num is what kernels that are written by cmd/revgen use: quotients, functions,
// access to operands that may be nil, sums of vectors, and loops on several workers, once
// for float32, float64 and fixed.Q43.
//
// In floating point the functions are those of package math, rounded to the type. In
// fixed point they are those of package fixed, but they do not panic. Each function
// says what it returns outside its domain or range. A kernel therefore runs on any
// numbers, as it does over floats.
package num

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
)

// isFixed is a constant for each T, so that the branch not taken costs nothing.
func isFixed[T rev.Real]() bool { return T(1)/2 == 0 }

// Quotient returns x/y; in fixed point 0 for y = 0.
func Quotient[T rev.Real](x, y T) T {
	if T(1)/2 != 0 {
		return x / y
	}
	return T(quotient(fixed.Q43(x), fixed.Q43(y)))
}

//go:noinline
func quotient(x, y fixed.Q43) fixed.Q43 {
	if y == 0 {
		return 0
	}
	return x.Div(y)
}

// Over returns x/y, and 0 for y = 0.
func Over[T rev.Real](x, y T) T {
	if T(1)/2 != 0 && y != 0 {
		return x / y
	}
	return T(quotient(fixed.Q43(x), fixed.Q43(y))) // which is 0 for y = 0
}

// Int returns the number n.
func Int[T rev.Real](n int) T {
	if isFixed[T]() {
		return T(int64(n) << fixed.FracBits)
	}
	return T(n)
}

// Sqrt returns √x; in fixed point 0 for x < 0.
func Sqrt[T rev.Real](x T) T {
	if T(1)/2 != 0 {
		return T(math.Sqrt(float64(x)))
	}
	return T(sqrt(int64(x)))
}

//go:noinline
func sqrt(x int64) fixed.Q43 {
	if x < 0 {
		return 0
	}
	return fixed.Sqrt(fixed.Q43(x))
}

// Exp returns eˣ; in fixed point the largest number if eˣ is out of range.
func Exp[T rev.Real](x T) T {
	if !isFixed[T]() {
		return T(math.Exp(float64(x)))
	}
	r, err := fixed.ExpChecked(fixed.Q43(x))
	if err != nil {
		r = fixed.Max
	}
	return T(r)
}

// Log returns log x; in fixed point the least number for x <= 0.
func Log[T rev.Real](x T) T {
	if !isFixed[T]() {
		return T(math.Log(float64(x)))
	}
	if x <= 0 {
		return T(fixed.Min)
	}
	return T(fixed.Log(fixed.Q43(x)))
}

// Sin returns sin x.
func Sin[T rev.Real](x T) T {
	if !isFixed[T]() {
		return T(math.Sin(float64(x)))
	}
	return T(fixed.Sin(fixed.Q43(x)))
}

// Cos returns cos x.
func Cos[T rev.Real](x T) T {
	if !isFixed[T]() {
		return T(math.Cos(float64(x)))
	}
	return T(fixed.Cos(fixed.Q43(x)))
}

// Sincos returns sin x and cos x.
func Sincos[T rev.Real](x T) (sin, cos T) {
	if isFixed[T]() {
		return Sin(x), Cos(x)
	}
	s, c := math.Sincos(float64(x))
	return T(s), T(c)
}

// Tanh returns tanh x.
func Tanh[T rev.Real](x T) T {
	if !isFixed[T]() {
		return T(math.Tanh(float64(x)))
	}
	e := Exp(-2 * fixed.Q43(Abs(x)))
	r := T((fixed.One - e).Div(fixed.One + e))
	if x < 0 {
		return -r
	}
	return r
}

// Tan returns tan x; in fixed point 0 where cos x is 0.
func Tan[T rev.Real](x T) T {
	if !isFixed[T]() {
		return T(math.Tan(float64(x)))
	}
	return Quotient(Sin(x), Cos(x))
}

// Asin returns arcsin x; in fixed point ±π/2 for |x| > 1.
func Asin[T rev.Real](x T) T {
	if !isFixed[T]() {
		return T(math.Asin(float64(x)))
	}
	return Atan2(x, leg(x))
}

// Acos returns arccos x; in fixed point 0 or π for |x| > 1.
func Acos[T rev.Real](x T) T {
	if !isFixed[T]() {
		return T(math.Acos(float64(x)))
	}
	return Atan2(leg(x), x)
}

// leg returns √(1 - x²) in fixed point, or 0 for |x| > 1.
func leg[T rev.Real](x T) T {
	one := fixed.Of[T](1)
	if x > one || x < -one {
		return 0
	}
	return Sqrt(fixed.Product(one-x, one+x))
}

// Atan returns arctan x.
func Atan[T rev.Real](x T) T {
	if !isFixed[T]() {
		return T(math.Atan(float64(x)))
	}
	return Atan2(x, fixed.Of[T](1))
}

// Atan2 returns the angle of the point (x, y).
func Atan2[T rev.Real](y, x T) T {
	if !isFixed[T]() {
		return T(math.Atan2(float64(y), float64(x)))
	}
	return T(fixed.Atan2(fixed.Q43(y), fixed.Q43(x)))
}

// Hypot returns √(x² + y²); in fixed point the largest number if that is out of range.
func Hypot[T rev.Real](x, y T) T {
	if !isFixed[T]() {
		return T(math.Hypot(float64(x), float64(y)))
	}
	r, err := fixed.HypotChecked(fixed.Q43(x), fixed.Q43(y))
	if err != nil {
		r = fixed.Max
	}
	return T(r)
}

// Sinh returns sinh x; in fixed point it is wrong where eˣ or e⁻ˣ is out of range.
func Sinh[T rev.Real](x T) T {
	if !isFixed[T]() {
		return T(math.Sinh(float64(x)))
	}
	return (Exp(x) - Exp(-x)) / 2
}

// Cosh returns cosh x; in fixed point it is wrong where eˣ or e⁻ˣ is out of range.
func Cosh[T rev.Real](x T) T {
	if !isFixed[T]() {
		return T(math.Cosh(float64(x)))
	}
	return Exp(x)/2 + Exp(-x)/2
}

// Asinh returns the number whose sinh is x.
func Asinh[T rev.Real](x T) T {
	switch {
	case !isFixed[T]():
		return T(math.Asinh(float64(x)))
	case x < 0:
		return -Asinh(-max(x, -T(fixed.Max)))
	}
	return Log(x/2+Hypot(x, fixed.Of[T](1))/2) + fixed.Of[T](math.Ln2) // halves are in range
}

// Acosh returns the number above 0 whose cosh is x; in fixed point 0 for x < 1.
func Acosh[T rev.Real](x T) T {
	one := fixed.Of[T](1)
	switch {
	case !isFixed[T]():
		return T(math.Acosh(float64(x)))
	case x < one:
		return 0
	}
	return Log(x/2+fixed.Product(Sqrt(x-one), Sqrt(x+one))/2) + fixed.Of[T](math.Ln2)
}

// Atanh returns the number whose tanh is x; in fixed point the least or the largest number
// for |x| >= 1.
func Atanh[T rev.Real](x T) T {
	one := fixed.Of[T](1)
	switch {
	case !isFixed[T]():
		return T(math.Atanh(float64(x)))
	case x <= -one:
		return T(fixed.Min)
	case x >= one:
		return T(fixed.Max)
	}
	return Log(one+x)/2 - Log(one-x)/2
}

// Exp2 returns 2ˣ; in fixed point the largest number if 2ˣ is out of range.
func Exp2[T rev.Real](x T) T {
	if !isFixed[T]() {
		return T(math.Exp2(float64(x)))
	}
	r, err := fixed.Exp2Checked(fixed.Q43(x))
	if err != nil {
		r = fixed.Max
	}
	return T(r)
}

// Log2 returns the logarithm to base 2; in fixed point the least number for x <= 0.
func Log2[T rev.Real](x T) T {
	if !isFixed[T]() {
		return T(math.Log2(float64(x)))
	}
	if x <= 0 {
		return T(fixed.Min)
	}
	return T(fixed.Log2(fixed.Q43(x)))
}

// Log10 returns the logarithm to base 10; in fixed point the least number for x <= 0.
func Log10[T rev.Real](x T) T {
	if !isFixed[T]() {
		return T(math.Log10(float64(x)))
	}
	if x <= 0 {
		return T(fixed.Min)
	}
	return fixed.Product(Log(x), fixed.Of[T](1/math.Ln10))
}

// Log1p returns log(1 + x); in fixed point the least number for x <= -1.
func Log1p[T rev.Real](x T) T {
	if !isFixed[T]() {
		return T(math.Log1p(float64(x)))
	}
	return Log(fixed.Of[T](1) + x)
}

// Expm1 returns eˣ - 1; in fixed point about the largest number if eˣ is out of range.
func Expm1[T rev.Real](x T) T {
	if !isFixed[T]() {
		return T(math.Expm1(float64(x)))
	}
	return Exp(x) - fixed.Of[T](1)
}

// Cbrt returns the cube root of x.
func Cbrt[T rev.Real](x T) T {
	if !isFixed[T]() {
		return T(math.Cbrt(float64(x)))
	}
	if x < 0 {
		return -Cbrt(-x)
	}
	return Pow(x, fixed.Of[T](1./3))
}

// Pow returns xʸ; in fixed point 0 where xʸ is undefined or out of range.
func Pow[T rev.Real](x, y T) T {
	if !isFixed[T]() {
		return T(math.Pow(float64(x), float64(y)))
	}
	r, err := fixed.PowChecked(fixed.Q43(x), fixed.Q43(y))
	if err != nil {
		r = 0
	}
	return T(r)
}

// Abs returns |x|.
func Abs[T rev.Real](x T) T {
	if !isFixed[T]() {
		return T(math.Abs(float64(x)))
	}
	return max(x, -x)
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

// Index returns i. It panics with mat.ErrRowAccess unless 0 <= i < n.
func Index(i, n int) int {
	if uint(i) >= uint(n) {
		panic(mat.ErrRowAccess)
	}
	return i
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

// Rows returns the data of m up to its last element, or nil if m is nil. A row past that
// panics. Without columns it returns all data.
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
