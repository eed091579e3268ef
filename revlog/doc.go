// Package revlog provides reversible kernels over logarithmic numbers: sums,
// dot products, products of matrices, and products of powers.
//
//	Sum      r ⊕= Σ x_i
//	Dot      r ⊕= Σ x_i·y_i
//	MatMul   C ⊕= A·B
//	MulElem  z_i ⊕= x_i·y_i
//	Prod     r *= Π x_i
//	Powers   y_i *= Π_j x_j^a_ij
//
// Use them where numbers leave the range of a float, such as the probability of
// a long sequence. In the equations x ⊗ y = x + y is the log of a product, and
// x ⊕ y = log(eˣ + eʸ) the log of a sum.
//
// # Logs as operands
//
// The elements of operands are the logs themselves. [ulog.Logs], [ulog.Logs32]
// and [ulog.FixedLogs] turn a slice of numbers into a slice of its logs without
// copying it. Cotangents and tangents are derivatives by the logs. They are plain
// numbers in a kernel of the same type. For a number x with the log X = log x, X̄ = x·x̄
// and Ẋ = ẋ/x. If x is the probability of an event, the output is a probability, and
// the cotangent of the output is 1, then X̄ is the posterior probability of the event.
//
// # What Inverse restores
//
// Sum, Dot, MatMul and MulElem transform their output in place: they add to a number
// whose log they hold. If Forward changes that log from z to z', Inverse restores z
// within ε·(|z'| + 2)·e^(z'-z), where ε is 2⁻⁵² or 2⁻²³. A number that is small beside
// the sum is lost, as it is if you add a large float to a small one and subtract it
// again. At worst it comes back as zero.
//
// Two cases are exact. If the sum that is added is zero (the log -Inf), nothing changes,
// and the inverse of Adjoint is exact too. If only the output was zero, Inverse and
// Adjoint restore it to the bit, and its cotangent becomes 0. The cotangent that it had
// is then lost: the inverse of Adjoint, which a program that fails runs, returns
// [rev.ErrUnsupported] before it changes anything.
//
// Sums are not offered over ulog.Fixed. The log of a sum is rounded, so the sum would
// have no exact inverse. Prod and Powers only multiply, and take ulog.Fixed.
//
// Kernels over sparse matrices of logs are in package revsparse.
package revlog

//go:generate go run revnum/cmd/revgen -instances
