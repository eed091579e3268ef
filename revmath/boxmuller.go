package revmath

import (
	"math"

	"revnum/rev"
)

// boxMuller is the kernel
//
//	(z1, z2)_i += √(-2·log u1_i)·(cos 2π·u2_i, sin 2π·u2_i),
//
// which makes independent standard normal numbers of uniform ones (G. E. P. Box and M. E.
// Muller, A note on the generation of random normal deviates, Ann. Math. Statist. 29,
// 1958). If a u1 is not in (0, 1], all passes return a *rev.DomainError, but NaN gives
// NaN. The derivative by u1 = 1, which is infinite, comes out as 0.
//
// The map in place, u to z, is this kernel followed by the inverse of BoxMullerInverse,
// which takes u away. Over floats zero is left up to rounding. Over fixed point a few
// units are left, but the inverse restores every bit.
//
//revgen:kernel BoxMuller[T rev.Real]
func boxMuller(z1, z2, u1, u2 []float64) error {
	if len(z2) != len(z1) || len(u1) != len(z1) || len(u2) != len(z1) {
		panic("shape")
	}
	for i := range u1 {
		if u1[i] <= 0 || u1[i] > 1 {
			return &rev.DomainError{Func: "BoxMuller", Args: []float64{u1[i], u2[i]}, Index: i}
		}
	}
	for i := range u1 {
		r := math.Sqrt(-2 * math.Log(u1[i]))
		a := 2 * math.Pi * u2[i]
		z1[i] += float64(r * math.Cos(a))
		z2[i] += float64(r * math.Sin(a))
	}
	return nil
}

// boxMullerInverse is the kernel
//
//	u1_i += exp(-(z1_i² + z2_i²)/2),  u2_i += arg(z1_i + i·z2_i)/2π in [0, 1),
//
// the inverse of the map of BoxMuller. Over floats a tiny negative angle rounds to 1. Over
// fixed point z1² + z2² must be below 2²⁰, as beyond it wraps. There is no derivative at z = 0,
// where it comes out as 0.
//
//revgen:kernel BoxMullerInverse[T rev.Real]
func boxMullerInverse(u1, u2, z1, z2 []float64) {
	if len(z2) != len(z1) || len(u1) != len(z1) || len(u2) != len(z1) {
		panic("shape")
	}
	for i := range z1 {
		u1[i] += math.Exp(-(float64(z1[i]*z1[i]) + float64(z2[i]*z2[i])) / 2)
		turn := math.Atan2(z2[i], z1[i]) / (2 * math.Pi)
		if turn < 0 {
			turn += 1
		}
		u2[i] += turn
	}
}
