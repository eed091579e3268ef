// Package fixed provides fixed-point numbers whose += and -= undo each other to
// the bit.
//
// A Q43 is an int64 that counts units of 2⁻⁴³, the unit in the last place (ULP):
// 20 integer bits and a sign, from -2²⁰ to 2²⁰-2⁻⁴³. Its sums are sums of
// integers modulo 2⁶⁴. So they do not depend on order or grouping, and are undone
// by the same differences whatever is added, and however often they wrap on the
// way. Products and quotients are rounded, and rounding cannot be undone. A
// reversible program therefore only adds a product into a place or subtracts it
// from one: MulAdd and MulSub undo each other since they round the same product
// to the same number.
//
// All arithmetic is on integers (square roots start from one of float64, which
// IEEE 754 determines), so every result is the same bits on every machine.
//
// # Three families
//
// Overflow is treated in one of three ways, told apart by the name:
//
//	wrapping    + - Mul Div MulAdd MulSub Abs From…   the result modulo 2²¹, in [-2²⁰, 2²⁰)
//	checked     …Checked                              the same result, or an error
//	saturating  …Sat                                  the result, or the end of the range nearest to it
//
// The operators * and / of the language are those of the integers: x / 2 is half
// of x rounded toward zero, and 3 * x is three times x, but x * y is not the
// product of two numbers; x.Mul(y) is. Division by zero panics as that of integers
// does, and is an error in the checked form.
//
// The functions (Sqrt, Exp, ...) do not wrap. A result out of range panics with
// ErrRange and an argument out of the domain with ErrDomain; the checked forms
// return these as errors.
//
// # Accuracy
//
// Errors are in units in the last place, against the exact result for the given
// arguments.
//
//	operation                      error           undone by
//	x + y, x - y                   exact           x - y, x + y
//	x.Mul(y), x.Div(y)             nearest, even
//	x.MulAdd(a, b)                 one rounding    x.MulSub(a, b), and back
//	Accumulator.Add, AddMul,       exact           Sub, SubMul, SubDot, SubAcc,
//	  AddDot, AddAcc                               and back
//	Accumulator.Round, Dot         nearest, even
//	Buffer.Mul                     below n units   Buffer.Div
//	Sqrt, Hypot                    nearest
//	Exp, Exp2, Log, Log2           below 0.51
//	Sin, Cos, Atan2, Pow           below 0.51
//	FromInt                        exact
//	FromFloat64, FromFloat32,      nearest, even
//	  FromRat, FromBigFloat
//	Float64                        nearest, even; exact within ±2¹⁰
//	Float32                        nearest, even
//	Int                            toward zero
//	Rat, BigFloat, DecimalString   exact
//	Parse                          nearest, even
//	String, MarshalText, JSON      Parse returns the same number
//
// The largest errors found against math/big, over some ten thousand random
// arguments and the edges of the range for each, are 0.5053 for Exp, 0.5045 for
// Exp2, 0.5040 for Pow, 0.5023 for Log2, 0.5002 for Log and 0.5000 for the others.
//
// # Sums of products
//
// An Accumulator holds a sum of products in 128 bits without rounding it, until
// it is read. Its bits depend neither on the order of the sum nor on how it is
// divided among workers.
//
// # Multiplication that is undone
//
// A Buffer keeps what multiplication by a fraction loses, so that v *= 9/10 can be
// undone too. It grows by log2(d/n) bits for a multiplication by n/d, to within 1%:
//
//	n/d          9/10     98/100   1/2      99/100   999/1000  2/3
//	measured     0.15196  0.02911  0.99993  0.01451  0.00143   0.58495
//	log2(d/n)    0.15200  0.02915  1.00000  0.01450  0.00144   0.58496
//
// # Generic code
//
// Code over float32, float64 and Q43 takes its products from Product, which costs
// nothing, and its quotients from Quotient. There is one format, since a
// second one, say of 16 fraction bits in an int32, would take Product over the
// budget of the compiler's inliner and make every kernel several times slower, for
// floats too.
//
// # Derivatives
//
// Each function has a derivative rule f…Adjoint, listed with it in UnaryFuncs and
// BinaryFuncs: the cotangent x̄ += fAdjoint(x, ȳ) of y += f(x).
//
// # Text
//
// Every Q43 is a finite decimal, of up to 43 digits after the point, which
// DecimalString writes. String, and with it %v, text and JSON, writes the shortest
// decimal that Parse reads as the same number, never with an exponent. The verbs
// %e, %f and %g are those of float64. Parse takes decimals of any length and with
// any exponent, in a time in proportion to their length.
package fixed
