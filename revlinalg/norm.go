package revlinalg

import "revnum/rev"

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

// flat returns a and b of the same shape with one row each, if nothing lies between
// the rows of either.
func flat[T rev.Real](a, b norm[T]) (norm[T], norm[T]) {
	if a.x.Rows > 1 && a.x.Stride == a.x.Cols && b.x.Stride == b.x.Cols {
		a.x.Rows, a.x.Cols = 1, a.x.Rows*a.x.Cols
		b.x.Rows, b.x.Cols = 1, a.x.Cols
	}
	return a, b
}

// squares returns the sum of the squares of all elements.
func (k *norm[T]) squares() (s T) {
	if k.x.Stride == k.x.Cols && k.inc == 1 {
		return sumSquares(rev.Vector[T]{N: k.x.Rows * k.x.Cols, Data: k.x.Data, Inc: 1})
	}
	for i := range k.x.Rows {
		s += sumSquares(k.row(i))
	}
	return s
}

// addScaled adds alpha·x of the other norm to x, unless one is nil.
func (k norm[T]) addScaled(alpha T, other norm[T]) {
	if k.x.Data == nil || other.x.Data == nil {
		return
	}
	k, other = flat(k, other)
	for i := range k.x.Rows {
		axpy(alpha, other.row(i), k.row(i))
	}
}
