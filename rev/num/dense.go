package num

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/simd/dense"
	"revnum/rev"
)

// What gradients of functions over gonum's matrices use. What stands for a call of gonum in such a
// function panics with gonum's value, as the function does. A wrong argument of the gradient alone
// is a [rev.OperandError].

// A Matrix is the memory of a *mat.Dense.
type Matrix = rev.General[float64]

// MatrixOf returns the memory of m, or no memory if m is nil.
func MatrixOf(m *mat.Dense) Matrix {
	if m == nil {
		return Matrix{}
	}
	return Matrix(m.RawMatrix())
}

// VectorOf returns the memory of v, which must have no gaps between its elements, or nil if v is
// nil.
func VectorOf(v *mat.VecDense) []float64 {
	if v == nil {
		return nil
	}
	raw := v.RawVector()
	if raw.Inc != 1 && raw.N > 1 {
		panic(gaps[mat.VecDense]("a vector", "elements: copy it to one of its own"))
	}
	return raw.Data[:raw.N:raw.N]
}

// gaps is not a part of its callers, so that the compiler can inline them.
//
//go:noinline
func gaps[M any](operand, between string) error {
	return rev.ShapeError[M](operand, "has gaps between its %s", between)
}

// SymmetricOf returns a copy of s with both its triangles, or a matrix of no elements if s is nil.
func SymmetricOf(s *mat.SymDense) Matrix {
	if s == nil {
		return Matrix{}
	}
	return whole(s)
}

// TriangularOf returns a copy of t with zeros outside its triangle, or a matrix of no elements if t
// is nil.
func TriangularOf(t *mat.TriDense) Matrix {
	if t == nil {
		return Matrix{}
	}
	return whole(t)
}

// DiagonalOf returns a copy of d with zeros outside its diagonal, or a matrix of no elements if d is nil.
func DiagonalOf(d *mat.DiagDense) Matrix {
	if d == nil {
		return Matrix{}
	}
	return whole(d)
}

// FactorOf returns the lower triangular factor of c, or a matrix of no elements if c is nil or has
// none.
func FactorOf(c *mat.Cholesky) Matrix {
	if c == nil || c.IsEmpty() {
		return Matrix{}
	}
	var l mat.TriDense
	c.LTo(&l)
	return whole(&l)
}

func whole(m mat.Matrix) Matrix {
	if r, _ := m.Dims(); r == 0 {
		return Matrix{}
	}
	return MatrixOf(mat.DenseCopyOf(m))
}

// MatrixData returns the elements of m row by row. It panics if there are gaps between its rows.
func MatrixData(m Matrix) []float64 {
	if m.Stride != m.Cols && m.Rows > 1 {
		panic(gaps[mat.Dense]("a matrix", "rows: use RawRowView"))
	}
	return m.Data[:m.Rows*m.Cols]
}

// Column returns x as a matrix of one column.
func Column(x []float64) Matrix { return Matrix{Rows: len(x), Cols: 1, Stride: 1, Data: x} }

// Submatrix returns rows i to k-1 and columns j to l-1 of m, in its memory.
func Submatrix(m Matrix, i, k, j, l int) Matrix {
	if i < 0 || k <= i || m.Rows < k || j < 0 || l <= j || m.Cols < l {
		panic(mat.ErrIndexOutOfRange)
	}
	return Matrix{Rows: k - i, Cols: l - j, Stride: m.Stride, Data: m.Data[i*m.Stride+j : (k-1)*m.Stride+l]}
}

// Shaped returns data as an r×c matrix.
func Shaped(r, c int, data []float64) Matrix { return rev.NewGeneral(r, c, data) }

// MakeMatrix returns an r×c matrix of zeros, which lasts until Free.
func (s *Scratch[T]) MakeMatrix(r, c int) rev.General[T] {
	if r <= 0 || c <= 0 {
		panic(mat.ErrZeroLength)
	}
	return rev.General[T]{Rows: r, Cols: c, Stride: c, Data: s.Make(r * c)}
}

// GradientMatrix returns the memory of grad, of the shape of m, with zeros. An empty grad gets
// this shape.
func GradientMatrix(grad *mat.Dense, m Matrix) Matrix {
	if grad.IsEmpty() && m.Rows > 0 {
		grad.ReuseAs(m.Rows, m.Cols)
	}
	if r, c := grad.Dims(); r != m.Rows || c != m.Cols {
		panic(rev.ShapeError[mat.Dense]("a gradient", "is %d×%d, want %d×%d", r, c, m.Rows, m.Cols))
	}
	grad.Zero()
	return MatrixOf(grad)
}

// GradientVector returns the memory of grad, which is as long as x, with zeros. An empty grad
// gets this length.
func GradientVector(grad *mat.VecDense, x []float64) []float64 {
	if grad.IsEmpty() && len(x) > 0 {
		grad.ReuseAsVec(len(x))
	}
	if grad.Len() != len(x) {
		panic(rev.ShapeError[mat.VecDense]("a gradient", "has length %d, want %d", grad.Len(), len(x)))
	}
	grad.Zero()
	return VectorOf(grad)
}

// NoTrans and Trans say whether Gemm reads a factor as it is, or its transpose.
const (
	NoTrans = false
	Trans   = true
)

// Gemm computes C = op(A)·op(B), or with beta = 1 C += op(A)·op(B). C shares no memory with
// A and B.
func Gemm(transA, transB bool, a, b Matrix, beta float64, c Matrix) {
	m, k, rsa, csa := factor(a, transA)
	l, n, rsb, csb := factor(b, transB)
	if m != c.Rows || n != c.Cols || k != l {
		panic(mat.ErrShape)
	}
	if beta == 0 {
		ClearMatrix(c)
	}
	dense.Gemm(m, n, k, 1, a.Data, rsa, csa, b.Data, rsb, csb, c.Data, c.Stride)
}

// factor returns the shape and the strides of op(m).
func factor(m Matrix, trans bool) (rows, cols, rs, cs int) {
	if trans {
		return m.Cols, m.Rows, 1, m.Stride
	}
	return m.Rows, m.Cols, m.Stride, 1
}

// ClearMatrix sets all elements of m to zero.
func ClearMatrix(m Matrix) {
	for i := range m.Rows {
		clear(Row(m, i))
	}
}

// PushMatrix puts the elements of m on the tape.
func PushMatrix(t *Tape[float64], m Matrix) {
	x := t.Extend(m.Rows * m.Cols)
	for i := range m.Rows {
		copy(x[i*m.Cols:], Row(m, i))
	}
}

// PopMatrix takes the last elements from the tape, and stores them in m.
func PopMatrix(t *Tape[float64], m Matrix) {
	x := t.Take(m.Rows * m.Cols)
	for i := range m.Rows {
		copy(Row(m, i), x[i*m.Cols:])
	}
}

// PopAddMatrix takes the last elements from the tape, and adds them to m.
func PopAddMatrix(t *Tape[float64], m Matrix) {
	x := t.Take(m.Rows * m.Cols)
	for i := range m.Rows {
		for j := range m.Cols {
			m.Data[Entry(m, i, j)] += x[i*m.Cols+j]
		}
	}
}

// Constant returns x. Its derivative is taken to be zero.
func Constant(x float64) float64 { return x }

// SameLengths panics if the lengths of slices are not equal.
func SameLengths(x []float64, others ...[]float64) {
	for _, y := range others {
		if len(y) != len(x) {
			panic(mat.ErrShape)
		}
	}
}

// SameShapes panics if the shapes of matrices are not equal.
func SameShapes(a Matrix, others ...Matrix) {
	for _, b := range others {
		if b.Rows != a.Rows || b.Cols != a.Cols {
			panic(mat.ErrShape)
		}
	}
}

// Ratio returns x/y, and 0 for y = 0, as Over does. It is float64 alone, so that it takes no call.
func Ratio(x, y float64) float64 {
	if y == 0 {
		return 0
	}
	return x / y
}

// HalfInverse returns Ratio(0.5, y) without a quotient. q must be 1/y. For a root y neither overflows, so the bits are those of
// Ratio(0.5, y).
func HalfInverse(q, y float64) float64 {
	if y == 0 {
		return 0
	}
	return q / 2
}

// SquareTimes returns q²·x, where q² may overflow though that does not. For 1/√y of subnormal y it does.
func SquareTimes(q, x float64) float64 {
	if s := q * q; s <= math.MaxFloat64 {
		return s * x
	}
	return q * x * q
}

// Where returns x if cond holds, and 0 if not. It takes no branch.
func Where(cond bool, x float64) float64 {
	var mask uint64
	if cond {
		mask = ^uint64(0)
	}
	return math.Float64frombits(math.Float64bits(x) & mask)
}

// Signum is Sign for float64, in code that is inlined and takes no branch.
func Signum(x float64) float64 {
	sign := 0
	if x > 0 {
		sign = 1
	}
	if x < 0 {
		sign = -1
	}
	return float64(sign)
}

// Entry returns where element (i, j) of m is in m.Data. It panics as m.At does.
func Entry(m Matrix, i, j int) int {
	if uint(i) >= uint(m.Rows) || uint(j) >= uint(m.Cols) {
		outside(m, i)
	}
	return i*m.Stride + j
}

// RowPart returns the elements of row i from lo up to hi, of which there is one at least. It panics as m.At does for them.
func RowPart(m Matrix, i, lo, hi int) []float64 {
	if uint(i) >= uint(m.Rows) || lo < 0 || hi > m.Cols {
		outside(m, i)
	}
	return m.Data[i*m.Stride : len(m.Data) : len(m.Data)][lo:hi]
}

func outside(m Matrix, i int) {
	if uint(i) >= uint(m.Rows) {
		panic(mat.ErrRowAccess)
	}
	panic(mat.ErrColAccess)
}
