package ulog

import "gonum.org/v1/gonum/mat"

// Vector is a strided view of N numbers. Element i is Data[i*Inc]. It is a mat.Vector whose
// elements read as float64. A number out of the range of float64 reads as 0 or +Inf, and
// LogAt returns the number itself. There is no SetVec, because the vector does not store
// float64.
type Vector[T Number] struct {
	N    int
	Data []T
	Inc  int
}

// Matrix is a view of a dense matrix stored by rows: element (i, j) is
// Data[i*Stride+j]. It is a mat.Matrix in the way that Vector is a mat.Vector.
type Matrix[T Number] struct {
	Rows, Cols int
	Data       []T
	Stride     int
}

var (
	_ mat.Vector = Vector[Float64]{}
	_ mat.Matrix = Matrix[Float64]{}
)

// NewVector returns a view of all of x. It shares the storage of x.
func NewVector[T Number](x []T) Vector[T] { return Vector[T]{len(x), x, 1} }

// VectorOfLogs returns the vector with the logs v. It shares the storage of v.
func VectorOfLogs(v *mat.VecDense) Vector[Float64] {
	r := v.RawVector()
	return Vector[Float64]{r.N, OfLogs(r.Data), r.Inc}
}

// Len returns the number of elements.
func (v Vector[T]) Len() int { return v.N }

// Dims returns N and 1.
func (v Vector[T]) Dims() (r, c int) { return v.N, 1 }

// LogAt returns element i. It panics with mat.ErrRowAccess out of range.
func (v Vector[T]) LogAt(i int) T {
	if uint(i) >= uint(v.N) {
		panic(mat.ErrRowAccess)
	}
	return v.Data[i*v.Inc]
}

// SetLogAt sets element i. It panics with mat.ErrRowAccess out of range.
func (v Vector[T]) SetLogAt(i int, x T) {
	if uint(i) >= uint(v.N) {
		panic(mat.ErrRowAccess)
	}
	v.Data[i*v.Inc] = x
}

// AtVec returns the value of element i.
func (v Vector[T]) AtVec(i int) float64 { return value(v.LogAt(i)) }

// At returns the value of element i. j must be 0.
func (v Vector[T]) At(i, j int) float64 {
	if j != 0 {
		panic(mat.ErrColAccess)
	}
	return v.AtVec(i)
}

// T returns the transpose. It shares the storage of v.
func (v Vector[T]) T() mat.Matrix { return mat.TransposeVec{Vector: v} }

// NewMatrix returns an r×c view of data, stored by rows without gaps. If data is
// nil, the view is of new numbers, every one 1. NewMatrix panics with
// mat.ErrNegativeDimension, or with mat.ErrShape if the length of data is not r·c.
func NewMatrix[T Number](r, c int, data []T) Matrix[T] {
	if r < 0 || c < 0 {
		panic(mat.ErrNegativeDimension)
	}
	if data == nil {
		data = make([]T, r*c)
	}
	if len(data) != r*c {
		panic(mat.ErrShape)
	}
	return Matrix[T]{r, c, data, max(c, 1)}
}

// MatrixOfLogs returns the matrix with the logs m. It shares the storage of m.
func MatrixOfLogs(m *mat.Dense) Matrix[Float64] {
	r := m.RawMatrix()
	return Matrix[Float64]{r.Rows, r.Cols, OfLogs(r.Data), r.Stride}
}

// Dims returns the numbers of rows and columns.
func (m Matrix[T]) Dims() (r, c int) { return m.Rows, m.Cols }

func (m Matrix[T]) index(i, j int) int {
	if uint(i) >= uint(m.Rows) {
		panic(mat.ErrRowAccess)
	}
	if uint(j) >= uint(m.Cols) {
		panic(mat.ErrColAccess)
	}
	return i*m.Stride + j
}

// LogAt returns element (i, j). It panics with mat.ErrRowAccess or
// mat.ErrColAccess out of range.
func (m Matrix[T]) LogAt(i, j int) T { return m.Data[m.index(i, j)] }

// SetLogAt sets element (i, j), and panics as LogAt does.
func (m Matrix[T]) SetLogAt(i, j int, x T) { m.Data[m.index(i, j)] = x }

// At returns the value of element (i, j).
func (m Matrix[T]) At(i, j int) float64 { return value(m.LogAt(i, j)) }

// T returns the transpose. It shares the storage of m.
func (m Matrix[T]) T() mat.Matrix { return mat.Transpose{Matrix: m} }

// Row returns row i. It shares the storage of m. It panics with mat.ErrRowAccess out
// of range.
func (m Matrix[T]) Row(i int) Vector[T] {
	if uint(i) >= uint(m.Rows) {
		panic(mat.ErrRowAccess)
	}
	return Vector[T]{m.Cols, m.Data[i*m.Stride : i*m.Stride+m.Cols], 1}
}

// Col returns column j. It shares the storage of m. It panics with mat.ErrColAccess
// out of range.
func (m Matrix[T]) Col(j int) Vector[T] {
	if uint(j) >= uint(m.Cols) {
		panic(mat.ErrColAccess)
	}
	if m.Rows == 0 {
		return Vector[T]{Inc: 1}
	}
	return Vector[T]{m.Rows, m.Data[j:], m.Stride}
}

// value returns the float64 value of x.
func value[T Number](x T) float64 { return any(x).(interface{ Float64() float64 }).Float64() }
