// Package revmath has special functions as kernels.
//
//	Bessel              y += J_ν(x), of integer and real order ν
//	BoxMuller,
//	BoxMullerInverse    from uniform to normal numbers, and from these to uniform ones
//
// cmd/revgen writes the passes of the last two from plain functions. Over fixed point the
// inverses of all of them restore every bit. Elementary functions are in revlinalg.
package revmath

//go:generate go run revnum/cmd/revgen -instances
