package revlinalg

import (
	"bytes"
	"math"
	"unsafe"

	"revnum/rev"
)

// A spectrum holds the eigenvalues or singular values of a matrix. It determines which of
// them count as equal, and which numbers count as 0.
type spectrum[T rev.Float] struct {
	values []float64
	dim    int     // the larger dimension of the matrix
	gap    float64 // the largest distance between values that count as equal
}

// setGap sets gap, for values in ascending or descending order.
func (s *spectrum[T]) setGap() {
	s.gap = 0
	if n := len(s.values); n > 0 {
		s.gap = float64(s.dim) * float64(epsilon[T]()) * max(math.Abs(s.values[0]), math.Abs(s.values[n-1]))
	}
}

// equal reports whether values i and j are equal.
func (s *spectrum[T]) equal(i, j int) bool { return math.Abs(s.values[j]-s.values[i]) <= s.gap }

// degenerate returns the error for equal values i and j.
func (s *spectrum[T]) degenerate(i, j int) error {
	i, j = min(i, j), max(i, j)
	return &rev.DegenerateError{I: i, J: j, Values: [2]float64{s.values[i], s.values[j]}, Gap: math.Abs(s.values[j] - s.values[i])}
}

// rounding returns the bound below which a number counts as 0 beside numbers of magnitude
// top.
func (s *spectrum[T]) rounding(top T) T { return 100 * T(s.dim) * epsilon[T]() * top }

// tolerance returns the bound below which a number counts as 0 beside the elements of ms.
func (s *spectrum[T]) tolerance(ms ...rev.General[T]) T {
	top := T(0)
	for _, m := range ms {
		for i := range m.Rows {
			for _, v := range m.Row(i) {
				top = max(top, abs(v))
			}
		}
	}
	return s.rounding(top)
}

// sameBits reports whether x and y, of the same length, have the same bits. Elements 0 and -0 are
// equal, but lead to other roundings of a decomposition.
func sameBits[T rev.Float](x, y []T) bool {
	size := int(unsafe.Sizeof(T(0)))
	return bytes.Equal(
		unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), size*len(x)),
		unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(y))), size*len(y)))
}

// setNaN sets the values, x and matrices to NaN.
func (s *spectrum[T]) setNaN(x []T, ms ...rev.General[T]) {
	for i := range x {
		s.values[i], x[i] = math.NaN(), T(math.NaN())
	}
	for _, m := range ms {
		for i := range m.Rows {
			for j := range m.Cols {
				m.Row(i)[j] = T(math.NaN())
			}
		}
	}
	s.gap = 0
}

// isDownward reports whether the first large element of x is negative. An element is large
// if it exceeds 1/π of the largest one. No matrix has elements in the ratio 1/π by
// construction, so rounding does not decide.
func isDownward[T rev.Float](x []T) bool {
	top := T(0)
	for _, v := range x {
		if v = abs(v); v > top {
			top = v
		}
	}
	for _, v := range x {
		if abs(v) > top/math.Pi {
			return v < 0
		}
	}
	return false
}
