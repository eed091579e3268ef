// Package numbers is the benchmark of the number types: how far a long program
// that is run forward and backward comes back from its start, how the kernels
// over fixed point and logarithms compare with loops that are written by hand.
//
// Its test writes the tables of docs/kernels.md, of which kernel is offered over
// which type, from what it finds when it runs them:
//
//	go test ./benchmarks/internal/numbers -run TestKernels -update
package numbers
