package rev

import (
	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/mat"
)

// Vector is a strided view of N elements: element i is Data[i*Inc]. It has the
// fields of blas64.Vector, so you can convert one to the other. If Data is nil, the
// operand is absent.
type Vector[T any] struct {
	N    int
	Data []T
	Inc  int
}

// General is a view of a dense matrix stored by rows: element (i, j) is
// Data[i*Stride+j]. It has the fields of blas64.General, so you can convert one to
// the other. If Data is nil, the operand is absent.
type General[T any] struct {
	Rows, Cols int
	Data       []T
	Stride     int
}

// ViewSlice returns a view of all of x. It shares the storage of x.
func ViewSlice[T any](x []T) Vector[T] {
	return Vector[T]{N: len(x), Data: x, Inc: 1}
}

// ViewVec returns a view of v. It shares the storage of v. If v is nil, the operand is
// absent; a kernel panics if it is an input. If v is empty, a kernel that adds into the
// operand sizes v first, with zeros, as methods of gonum size an empty receiver. That also
// holds for derivatives.
func ViewVec(v *mat.VecDense) Vector[float64] {
	if v == nil {
		return Vector[float64]{Inc: nilStride}
	}
	if v.IsEmpty() {
		return Vector[float64]{Data: emptyView[float64](v, mat.Upper), Inc: emptyStride}
	}
	return Vector[float64](v.RawVector())
}

// ViewCVec returns the view of v, sharing its storage.
func ViewCVec(v cblas128.Vector) Vector[complex128] {
	return Vector[complex128]{N: v.N, Data: v.Data, Inc: v.Inc}
}

// ViewDense returns a view of m. It shares the storage of m. If m is nil, the operand
// is absent. If m is empty, a kernel sizes it as [ViewVec] says.
func ViewDense(m *mat.Dense) General[float64] {
	if m == nil {
		return General[float64]{Stride: nilStride}
	}
	if m.IsEmpty() {
		return General[float64]{Data: emptyView[float64](m, mat.Upper), Stride: emptyStride}
	}
	return General[float64](m.RawMatrix())
}

// ViewCDense returns a view of m. It shares the storage of m. If m is nil, the operand
// is absent. If m is empty, a kernel sizes it as [ViewVec] says.
func ViewCDense(m *mat.CDense) General[complex128] {
	if m == nil {
		return General[complex128]{Stride: nilStride}
	}
	if m.IsEmpty() {
		return General[complex128]{Data: emptyView[complex128](m, mat.Upper), Stride: emptyStride}
	}
	r := m.RawCMatrix()
	return General[complex128]{Rows: r.Rows, Cols: r.Cols, Data: r.Data, Stride: r.Stride}
}

// ViewSym returns a view of m, whose upper triangle holds its elements. It shares the
// storage of m. If m is nil, the operand is absent. If m is empty, a kernel sizes it
// as [ViewVec] says.
func ViewSym(m *mat.SymDense) General[float64] {
	switch {
	case m == nil:
		return General[float64]{Stride: nilStride}
	case m.IsEmpty():
		return General[float64]{Data: emptyView[float64](m, mat.Upper), Stride: emptyStride}
	}
	r := m.RawSymmetric()
	return General[float64]{Rows: r.N, Cols: r.N, Data: r.Data, Stride: r.Stride}
}

// ViewTri returns a view of m. It shares the storage of m. If m is nil, the operand is
// absent. If m is empty, kind says which triangle it gets; otherwise ViewTri panics with an
// [OperandError] that is mat.ErrTriangle if m is of the other kind.
func ViewTri(m *mat.TriDense, kind mat.TriKind) General[float64] {
	switch {
	case m == nil:
		return General[float64]{Stride: nilStride}
	case m.IsEmpty():
		return General[float64]{Data: emptyView[float64](m, kind), Stride: emptyStride}
	}
	if _, is := m.Triangle(); is != kind {
		panic(Misuse[mat.TriDense](mat.ErrTriangle, "m", "has the other triangle"))
	}
	r := m.RawTriangular()
	return General[float64]{Rows: r.N, Cols: r.N, Data: r.Data, Stride: r.Stride}
}

// NewGeneral returns an r×c view of data, stored by rows without gaps. If data is nil,
// the view is of newly allocated zeros. Otherwise NewGeneral panics with an [OperandError]
// that is mat.ErrShape if the length of data is not r·c.
func NewGeneral[T any](r, c int, data []T) General[T] {
	if r < 0 || c < 0 {
		panic(Misuse[General[T]](mat.ErrNegativeDimension, "r or c", "is negative: they are %d and %d", r, c))
	}
	if data == nil {
		data = make([]T, r*c)
	}
	// r*c may have wrapped around.
	if len(data) != r*c || c != 0 && len(data)/c != r {
		panic(ShapeError[General[T]]("data", "has %d elements, want %d rows of %d", len(data), r, c))
	}
	return General[T]{Rows: r, Cols: c, Data: data, Stride: max(c, 1)}
}

// Row returns row i of m. It shares the storage of m. It is nil if m has no columns.
func (m General[T]) Row(i int) []T {
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.Stride : i*m.Stride+m.Cols : i*m.Stride+m.Cols]
}
