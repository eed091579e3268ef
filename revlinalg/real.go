package revlinalg

import "revnum/rev"

// isFixed reports whether T is a fixed-point type. It is a constant for each T,
// so that the branch not taken costs nothing.
func isFixed[T rev.Real]() bool { return T(1)/2 == 0 }

// row returns row i of m, sharing its storage.
func row[T any](m rev.General[T], i int) rev.Vector[T] {
	return rev.ViewSlice(m.Row(i))
}
