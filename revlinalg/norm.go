package revlinalg

import (
	"revnum/internal/vector"
	"revnum/rev"
)

// A norm has the operands of the kernels over squares of elements (SumSquares,
// Norm2, Frobenius, and those over complex numbers): a scalar, and a matrix x
// whose elements lie inc apart in its rows.
type norm[T rev.Real] struct {
	out *T
	x   rev.General[T]
	inc int
}

// normOf returns the operands with a vector, which is a row.
func normOf[T rev.Real](out *T, x rev.Vector[T]) norm[T] {
	return norm[T]{out, rev.General[T]{Rows: 1, Cols: x.N, Data: x.Data, Stride: x.N}, x.Inc}
}

// row returns row i of x.
func (k *norm[T]) row(i int) rev.Vector[T] {
	if k.x.Cols == 0 {
		return rev.Vector[T]{}
	}
	return rev.Vector[T]{N: k.x.Cols, Data: k.x.Data[i*k.x.Stride:], Inc: k.inc}
}

// isFlat reports whether nothing lies between the elements of x.
func (k *norm[T]) isFlat() bool { return k.x.Stride == k.x.Cols && k.inc == 1 }

// all returns the elements of a flat x.
func (k *norm[T]) all() rev.Vector[T] {
	return rev.Vector[T]{N: k.x.Rows * k.x.Cols, Data: k.x.Data, Inc: 1}
}

// squares returns the sum of the squares of all elements.
func (k *norm[T]) squares() (s T) {
	if k.isFlat() {
		return vector.SumSquares(k.all())
	}
	for i := range k.x.Rows {
		s += vector.SumSquares(k.row(i))
	}
	return s
}

// dot returns the sum of the products with the elements of another x.
func (k *norm[T]) dot(other *norm[T]) (s T) {
	if k.isFlat() && other.isFlat() {
		return vector.Dot(k.all(), other.all())
	}
	for i := range k.x.Rows {
		s += vector.Dot(k.row(i), other.row(i))
	}
	return s
}

// addScaled adds alpha times the elements of another x, unless one is nil.
func (k *norm[T]) addScaled(alpha T, other *norm[T]) {
	if k.x.Data == nil || other.x.Data == nil {
		return
	}
	if k.isFlat() && other.isFlat() {
		vector.Axpy(alpha, other.all(), k.all())
		return
	}
	for i := range k.x.Rows {
		vector.Axpy(alpha, other.row(i), k.row(i))
	}
}
