// Package fixed provides fixed-point numbers whose += and -= undo each other to the
// bit.
//
// A Q43 is an int64 that counts units of 2⁻⁴³, the unit in the last place (ULP). It
// has 20 integer bits and a sign, so it runs from -2²⁰ to 2²⁰-2⁻⁴³. Sums are sums of
// integers modulo 2⁶⁴. They do not depend on order or grouping, and the same
// differences undo them, however often they wrap on the way.
//
// Products and quotients are rounded, and rounding cannot be undone. A reversible
// program therefore only adds a product into a place or subtracts it from one.
// MulAdd and MulSub undo each other, because both round the same product to the same
// number.
//
// All arithmetic is on integers, except that square roots start from one of float64,
// which IEEE 754 determines. Every result therefore has the same bits on every
// machine.
//
// # Overflow
//
// The name of an operation says what it does on overflow:
//
//	wrapping    + - Mul Div MulAdd MulSub Abs From…   the result modulo 2²¹, in [-2²⁰, 2²⁰)
//	checked     …Checked                              the same result, or an error
//	saturating  …Sat                                  the result, or the end of the range nearest to it
//
// Do not use the operators * and / between two numbers: they multiply and divide int64. 3 *
// x is three times x and x / 2 is half of x rounded toward zero, but the product of
// x and y is x.Mul(y). Division by zero panics as in Go's integers; the checked form returns
// an error.
//
// The functions (Sqrt, Exp, ...) do not wrap. They panic with ErrRange if the result
// is out of range and with ErrDomain if the argument is out of the domain. Their
// checked forms return these errors.
//
// Accumulator sums products without rounding; Sum is one for code over all number types.
// Buffer multiplies by a fraction and undoes it to the bit. Number is for code over
// float32, float64 and Q43.
package fixed
