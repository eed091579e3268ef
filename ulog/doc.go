// Package ulog provides logarithmic numbers. They are kept as their logarithms, so
// they neither overflow nor underflow. To multiply, divide and raise them to powers
// is to add, subtract and scale logs.
//
// Over Fixed, whose logs are fixed-point numbers, that is exact. It is therefore
// undone to the bit: *= and /= are for Fixed what += and -= are for fixed.Q43.
//
//	Float64  a non-negative number, the log in a float64
//	Float32  a non-negative number, the log in a float32
//	Fixed    a non-negative number, the log in a fixed.Q43
//	Signed   a number of either sign, the log of |x| in a float64
//
// The zero value of each type is 1, where products start. A number is its exported
// field Log (and the sign of Signed): Float64{Log: -1000} is e^-1000, and
// NewFloat64(2) is 2. The operators of Go do not apply, so you cannot mistake the
// one for the other.
//
// An error of δ in the log is a relative error of δ in the number. [Number] lists
// the accuracy of every operation. Every operation gives the same bits on every
// machine, except Sum and Prod over the float types, which are vectorised.
//
// # Errors
//
// The float types answer as IEEE 754 does, without a flag: x/0 is ∞, and 0/0, 0·∞,
// ∞/∞ and ∞-∞ are NaN. A difference below zero in an unsigned type and the number of
// a negative float64 are NaN too. A log that overflows is ∞ or 0.
//
// Fixed has no such values. Division by zero, a negative difference and the number
// of a negative, infinite or NaN float64 panic with an error, as the division of an
// integer by zero does. A log that overflows wraps; see [Fixed].
//
// Each such operation has a checked form (AddChecked, DivChecked and so on). It
// returns the error instead, and also an error if a log overflows or wraps. The
// errors name operands and operation and wrap ErrDivideByZero, ErrNegative,
// ErrRange, ErrUndefined, ErrNaN or ErrInexact. Errors of Parse and of reading JSON
// are of type *ParseError.
//
// # In gonum
//
// Vector and Matrix are views of slices of numbers. They are mat.Vector and
// mat.Matrix that read as float64. OfLogs, VectorOfLogs and MatrixOfLogs make such
// views of existing logs.
package ulog
