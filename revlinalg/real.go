package revlinalg

import (
	"revnum/fixed"
	"revnum/rev"
)

// isFixed reports whether T is a fixed-point type. It is a constant for each T,
// so that the branch not taken costs nothing.
func isFixed[T rev.Real]() bool { return T(1)/2 == 0 }

// row returns row i of m, sharing its storage.
func row[T any](m rev.General[T], i int) rev.Vector[T] {
	return rev.ViewSlice(m.Row(i))
}

// axmy computes y -= alpha·x.
func axmy[T rev.Real](alpha T, x, y rev.Vector[T]) {
	if !isFixed[T]() {
		axpy(-alpha, x, y)
		return
	}
	for i := range x.N {
		y.Data[i*y.Inc] -= fixed.Product(alpha, x.Data[i*x.Inc])
	}
}
