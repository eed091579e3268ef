// Package examples has kernels written by revgen.
package examples

//go:generate go run revnum/cmd/revgen

// axpy is the kernel Y += α·X.
//
//revgen:kernel Axpy[T rev.Real]
func axpy(y []float64, alpha float64, x []float64) {
	if len(x) != len(y) {
		panic("shape")
	}
	for i := range x {
		y[i] += alpha * x[i]
	}
}
