// Package ulog provides logarithmic numbers: numbers that are kept as their
// logarithms, so that they neither overflow nor underflow, and are multiplied,
// divided and raised to powers by adding, subtracting and scaling logs. Over
// [Fixed], whose logs are fixed-point numbers, that is exact, and so it is
// undone to the bit: *= and /= are here what += and -= are for fixed.Q43.
//
//	Float64  a non-negative number, the log in a float64
//	Float32  a non-negative number, the log in a float32
//	Fixed    a non-negative number, the log in a fixed.Q43
//	Signed   a number of either sign, the log of |x| in a float64
//
// The zero value of each type is 1, where products start. A number is its
// exported field Log (and the sign of Signed): Float64{Log: -1000} is e^-1000,
// NewFloat64(2) is 2. The operators of Go do not apply, so none can be mistaken
// for another.
//
// # What is exact
//
// An error of δ in the log is a relative error of δ in the number. In the
// table, ulp is the distance of neighbouring logs at the result, a unit is
// 2^-43, and "rounded" is to nearest, by half an ulp or half a unit at most.
//
//	                Float64, Signed     Float32          Fixed
//	Mul, Div        rounded             rounded          exact, wraps
//	Inv, Negate     exact               exact            exact
//	PowInt          -                   -                exact, wraps
//	Pow             rounded             0.51 ulp         rounded, wraps
//	Sqrt            exact (1)           exact (1)        rounded
//	Add             below (2)           below (3)        0.502 unit, wraps
//	Sub             below (2)           below (3)        0.53 unit, wraps
//	Cmp, Max        exact               exact            exact
//	Prod            n roundings         n roundings      exact, wraps
//	Sum             below (4)           below (4)        0.51 unit, wraps
//	MulAssign,      restore             restore          restore each other
//	DivAssign       to rounding         to rounding      to the bit (5)
//	PowAssign,      restore             restore          restore each other
//	RootAssign      to rounding (6)     to rounding      to the bit, or an error
//	NewT(float64)   1 ulp               0.51 ulp         0.501 unit
//	.Float64()      0.54 ulp of the value for each float log, 1 ulp for Fixed
//	Parse, FromBig, Convert             rounded, for every type
//
//	(1) Unless the log is subnormal, where halving rounds.
//	(2) The difference of the logs, log1p(e^-d) or log(1-e^-d), and the sum are
//	    rounded: half an ulp of the result and 1.5 (2 for Sub) of the term,
//	    plus half an ulp of d times |d term/dd|. Near the result 1 the log is
//	    small and its relative error is not; the error of the number is.
//	(3) 0.51 ulp but where the log of the result is smaller than 2^-20 of those
//	    of the operands; then the bound is as (2), in float64 arithmetic.
//	(4) A few 2^-53 (2^-24 over Float32) and half an ulp of the result. Terms of
//	    opposite sign cancel, over Signed, as they do in float64.
//	(5) Where the log wraps too. The operand must not be zero: that panics.
//	(6) Not offered over Signed, where an even power loses the sign.
//
// The functions behind Add and Sub use no machine-dependent code and no fused
// multiply-add: every operation gives the same bits on every machine, except
// Sum and Prod over the float types, which are vectorised.
//
// # Fixed, and where it wraps
//
// The 2⁶⁴-1 positive numbers of Fixed are the integers modulo 2⁶⁴-1 as logs,
// in units of 2^-43; the one int64 left over is zero. A product whose log
// overflows wraps there, silently, as integers do in Go, and dividing takes it
// back: MulAssign, DivAssign, MulPowAssign and DivPowAssign are bijections for
// every operand but zero. So is xⁿ, n ≠ 0, as long as it does not wrap; where it would,
// PowAssign returns an error, since modulo 2⁶⁴-1 = 3·5·17·257·641·65537·6700417
// a power that shares a factor with that has several roots. The way back is
// RootAssign, and the other way round it is exact only for logs that n divides,
// and an error for others. Fractional powers of any log lose information;
// [BufferedPow] keeps it in a fixed.Buffer.
//
// # Trouble
//
// The float types answer as IEEE 754 does, without a flag: x/0 is ∞; 0/0, 0·∞,
// ∞/∞, ∞-∞ are NaN, and so are a difference below zero in an unsigned type and
// the number of a negative float64. A log that overflows is ∞ or 0. Fixed has
// no such values: division by zero, a negative difference and the number of a
// negative, infinite or NaN float64 panic with an error, as the division of an
// integer by zero does.
//
// Each such operation has a checked form, AddChecked, DivChecked and so on,
// which returns the error instead, and also one for a log that overflows or
// wraps. The errors name operands and operation and wrap ErrDivideByZero,
// ErrNegative, ErrRange, ErrUndefined, ErrNaN or ErrInexact. Errors of Parse and
// of reading JSON are of type *ParseError.
//
// # In gonum
//
// [Vector] and [Matrix] are mat.Vector and mat.Matrix that read as float64,
// views of slices of numbers. [OfLogs], [VectorOfLogs] and [MatrixOfLogs] are
// views of logs that are there already.
package ulog
