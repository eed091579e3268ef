package vector

import (
	"unsafe"

	"revnum/rev"
)

// Each finds the operands of n problems: the first and the second are given, and the others are as far apart as these.
type Each struct {
	N   int
	Bad bool // an operand is not in rows
}

// Rows returns the vectors of which x and y are the first two, as rows of a matrix.
func Rows[T rev.Number](e *Each, x, y rev.Vector[T]) (m rev.General[T]) {
	switch {
	case x.Data == nil:
	case x.N == 0 || x.Inc != 1:
		e.Bad = true
	default:
		m = rows(e, &x.Data[0], &y.Data[0], x.N)
		e.Bad = e.Bad || m.Stride > 0 && m.Stride < m.Cols // rows overlap, but they are not all the same
	}
	return m
}

// Numbers returns the numbers of which x and y are the first two.
func Numbers[T rev.Number](e *Each, x, y *T) (v rev.Vector[T]) {
	if x != nil {
		m := rows(e, x, y, 1)
		v = rev.Vector[T]{N: m.Rows, Data: m.Data, Inc: m.Stride}
	}
	return v
}

// Matrices returns the matrices of which x and y are the first two.
func Matrices[T rev.Number](e *Each, x, y rev.General[T]) (m Many[T]) {
	if len(x.Data) > 0 {
		all := rows(e, &x.Data[0], &y.Data[0], len(x.Data))
		m = Many[T]{x, all.Data, all.Stride}
	}
	return m
}

// Many are matrices that are by elements apart.
type Many[T any] struct {
	first rev.General[T]
	data  []T
	by    int
}

// At returns matrix i.
func (m *Many[T]) At(i int) rev.General[T] {
	x := m.first
	if m.data != nil {
		x.Data = m.Data(i)
	}
	return x
}

// Data returns the elements of matrix i. To copy all of a matrix takes longer than a short kernel.
func (m *Many[T]) Data(i int) []T { return m.data[i*m.by:][:len(m.first.Data)] }

// From returns the elements of matrix i and of all after it, each By elements after the one before.
func (m *Many[T]) From(i int) []T { return m.data[i*m.by:] }

// By is how many elements a matrix comes after the one before it.
func (m *Many[T]) By() int { return m.by }

// rows returns the matrix whose first row starts with x, and the second with y.
func rows[T rev.Number](e *Each, x, y *T, cols int) (m rev.General[T]) {
	size := int(unsafe.Sizeof(*x))
	bytes := int(uintptr(unsafe.Pointer(y)) - uintptr(unsafe.Pointer(x)))
	if bytes < 0 || bytes%size != 0 {
		e.Bad = true
		return m
	}
	stride := bytes / size
	return rev.General[T]{Rows: e.N, Cols: cols, Data: unsafe.Slice(x, (e.N-1)*stride+cols), Stride: stride}
}
