// Package vec holds vector loops over slices of numbers: element by element, and
// sums and maxima.
//
// # Operands
//
// Slices of one call must have the same length, or the call panics with a string.
// Matrices are stored by rows with a stride (ld, leading dimension). A destination
// may be exactly an operand of the same call. Other overlaps are not allowed.
//
// Nothing outside the operands is read or written. The last elements are processed
// under a mask, so no length is slow. Elements need no alignment beyond their own.
// Nothing is allocated. A call of assembly cannot be pre-empted. To keep it below
// 100 µs, long operands are cut, at places that depend only on their lengths.
//
// # Results
//
// A loop that writes a slice writes the same bits on all tiers (see package cpu) and
// machines, except the sign and payload of a NaN. Products are rounded before they
// are added to something.
//
// A loop that reduces (Dot, DotSign, Sum, SumAbs, SumSquares, SumExp, ComplexDot, ComplexSum, the sums
// of ExpShiftSum, ExpRows, CenterSquares and Huber, and those of rows) adds in an order that depends on the tier, and fuses products on the vector tiers. Its
// results on two tiers differ by rounding, within n·ε·Σ|terms|. On one tier they
// depend only on the arguments, not on the address or the number of workers. Max and
// MaxAbs round nothing, and are the same on all tiers. float32 is summed in float32, except
// that SumExp and ExpShiftSum sum in float64, and ExpRows mostly does (see there). A NaN in any
// operand is a NaN in the result.
//
// # Functions
//
// Functions of float32 are computed in float32, 16 lanes at a time, but for SinCos and the
// exponentials of differences of all but ExpRows, which are computed in float64. The tests compare float64 with
// math/big, and float32 with float64 for an even selection of all numbers. (All float32 were tried once
// for Exp and Log, and all of magnitudes from 2⁻²⁶ to 2⁸ for functions of networks, or to 2¹⁹ for Sin
// and Cos, on AVX-512; the tiers have the same bits.) They keep these bounds, in units in the last
// place:
//
//	           float64   float32
//	Exp        0.65      0.6
//	           0.85      1.06     (subnormal results)
//	Log        0.8       0.94
//	Sin, Cos   1.5       1.6
//	SinCos     1.5       0.501
//	ExpSubTo   0.65      0.501    (and other differences)
//	Hypot      1.5       1.5      (normal results)
//	Atan2      1.1       1.1
//	Pow        0.9       0.9
//
// Atan2 and Pow were compared with sums of two float64, for 10⁶ pairs of arguments of each of four
// kinds. They have the special cases of package math. Their derivatives are within 5 units of the sum
// of the magnitudes of their terms, unless a power of x in them overflows or underflows, or the square
// of 1/max(|x|, |y|) does.
//
// Subnormal arguments and results are exact to the same bounds. Underflow is
// gradual, and exp overflows where the true value does: exp(709.78) is finite.
// exp(-Inf) = 0, exp(+Inf) = +Inf, log(±0) = -Inf, log(x) = NaN for x < 0, log(+Inf)
// = +Inf.
//
// For functions that come with a derivative, the table bounds the errors of normal results in units
// in the last place. It bounds the errors of derivatives in units of 2⁻⁵³, or 2⁻²⁴ in float32, of the sum of the magnitudes of their terms:
//
//	          value              derivative
//	          float64  float32   float64  float32
//	Sigmoid   2.5      1.6       5        3
//	Tanh      2        3         5        5
//	Softplus  2        2         3.5      2
//	GELU      6        5         7        3.2
//	SiLU      2.5      2.5       5        3.2
//	Tan       3        3         6        6
//	Expm1     2.2      1.2       1.2      1.2
//	Log1p     0.8      0.94      1.5      1.6
//	Erf       1.2      1.2       2.2      2.8
//
// Sin, Cos, Tan and SinCos are no worse near multiples of π/2. They pass angles above 2²⁰ to Go code,
// and all but SinCos those above 2¹⁷ in float32.
package vec
