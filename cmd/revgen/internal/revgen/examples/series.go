package examples

import (
	"math"

	"revnum/rev"
)

// expSeries demonstrates a power series as a kernel; for work, use revlinalg.Exp:
//
//	y_i += exp(x_i) = 2^m·Σ_{k<20} r^k/k!,  r = x_i - m·log 2, |r| < 0.36.
//
// In floating point it is within 3ε times itself. In fixed point it is within 30 units
// times max(1, eˣ) for x < 13.8, and above that undefined, but the same in all passes.
//
//revgen:kernel ExpSeries[T rev.Real]
func expSeries(y, x []float64) {
	if len(x) != len(y) {
		panic("shape")
	}
	for i := range x {
		y[i] += exp(x[i])
	}
}

// exp takes a multiple of log 2 from x, in two parts of which the first has few bits. No
// multiple brings -∞ near zero, so the least x is one whose exponential is 0.
func exp(x float64) float64 {
	m := 0.0
	scale := 1.0
	for k := 0; k < 1100 && x-m*math.Ln2 > 0.36; k++ {
		m += 1
		scale *= 2
	}
	for k := 0; k < 1100 && x-m*math.Ln2 < -0.36; k++ {
		m -= 1
		scale /= 2
	}
	r := max(x, -800) - m*0.6931471803691238 - m*1.9082149292705877e-10
	term := 1.0
	sum := 1.0
	for k := 1; k < 20; k++ {
		term *= r / float64(k)
		sum += term
	}
	return sum * scale
}

// logSeries demonstrates a power series as a kernel; for work, use revlinalg.Log:
//
//	y_i += log x_i = m·log 2 + 2·Σ_{k<16} s^(2k+1)/(2k+1),  s = (z-1)/(z+1), x_i = 2^m·z
//
// with z near 1. In floating point it is within 4ε·(1 + |log x|), in fixed point within
// 60 units for x > 2⁻²⁰. If an element is not positive, all passes return a
// *rev.DomainError. +Inf and NaN give NaN.
//
//revgen:kernel LogSeries[T rev.Real]
func logSeries(y, x []float64) error {
	if len(x) != len(y) {
		panic("shape")
	}
	for i := range x {
		if x[i] <= 0 {
			return &rev.DomainError{Func: "log", Args: []float64{x[i]}, Index: i}
		}
	}
	for i := range x {
		y[i] += log(x[i])
	}
	return nil
}

func log(x float64) float64 {
	z := x
	m := 0.0
	for k := 0; k < 1100 && z > 1.4142135623730951; k++ {
		z /= 2
		m += 1
	}
	for k := 0; k < 1100 && z < 0.7071067811865476; k++ {
		z *= 2
		m -= 1
	}
	s := (z - 1) / (z + 1)
	power := s
	sum := s
	for k := 1; k < 16; k++ {
		power *= s * s
		sum += power / float64(2*k+1)
	}
	return m*0.6931471803691238 + (m*1.9082149292705877e-10 + 2*sum)
}

// powSeries demonstrates a function of two series; for work, use revlinalg.Pow:
//
//	y_i += x_i^p_i = exp(p_i·log x_i)
//
// of the series of ExpSeries and LogSeries, with both gradients. The relative error is the
// error of the exponential plus |p| times the error of the logarithm. If an x_i is not
// positive, all passes return a *rev.DomainError. If it is +Inf or NaN, the result is NaN.
//
//revgen:kernel PowSeries[T rev.Real]
func powSeries(y, x, p []float64) error {
	if len(x) != len(y) || len(p) != len(y) {
		panic("shape")
	}
	for i := range x {
		if x[i] <= 0 {
			return &rev.DomainError{Func: "pow", Args: []float64{x[i], p[i]}, Index: i}
		}
	}
	for i := range x {
		y[i] += exp(p[i] * log(x[i]))
	}
	return nil
}
