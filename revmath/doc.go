// Package revmath has special functions and small classical programs as reversible
// computations.
//
//	Bessel                   y += J_ν(x), of integer and real order ν
//	ExpSeries, LogSeries,
//	PowSeries                the elementary functions by their power series
//	BoxMuller,
//	BoxMullerInverse         from uniform to normal numbers, and back
//	BesselLogs               J_ν again, as a program whose terms are logarithmic numbers
//	RisingFactorial          x·(x+1)···(x+n-1) by recursion; n! for x = 1
//	Fibonacci                Fibonacci numbers by recursion
//
// Those from Bessel to BoxMullerInverse are kernels. cmd/revgen writes their passes from
// plain functions. The last three are programs of package rev. Over fixed point all of
// them are undone to the bit.
//
// The series are the textbook's. For work, revlinalg.Exp, Log and Pow are more accurate
// and faster, and revlinalg.Log has the logarithm of complex numbers. In logarithmic
// numbers these functions are sums and products: with y and x kept as logs,
// y *= exp(log x) is a revlinalg.Axpy, and y *= x^p is a revlog.Powers.
package revmath

//go:generate go run revnum/cmd/revgen
