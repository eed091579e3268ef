// Package numbers is the benchmark of the number types. It measures how far a long
// program that is run forward and backward ends from its start. It also compares kernels
// over fixed point and logarithms with loops written by hand, with the same kernels over
// float64, and with the processor's multiply-adds of 52 bits.
//
// Its test runs the kernels over all types, and writes the tables of docs/kernels.md
// from the result:
//
//	go test ./benchmarks/internal/numbers -run TestKernels -update
package numbers
