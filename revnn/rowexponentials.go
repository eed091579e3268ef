package revnn

import (
	"math"

	"revnum/internal/number"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// SoftmaxRows and LogSumExpRows take the exponentials of many rows at a time in floating
// point, because a call for each row takes longer than the exponentials of a short row.

// Rows from these lengths on go through Softmax or LogSumExp on their own, which is not
// slower there.
const (
	longSoftmax   = 4096
	longLogSumExp = 512
)

// A rowExponentials is room for the exponentials of a block of rows.
type rowExponentials[T rev.Real] struct {
	e      []T // exp(x_ij - m_i), row by row
	maxima []T // m_i
}

// growRows returns room for the blocks of x for each worker, made from what was there.
func growRows[T rev.Real](room []rowExponentials[T], workers int, x rev.General[T]) []rowExponentials[T] {
	room = workspace.Grow(room, max(len(room), workers))
	for i := range workers {
		n := rowsInBlock(x)
		room[i].e = workspace.Grow(room[i].e, n*x.Cols)
		room[i].maxima = workspace.Grow(room[i].maxima, n)
	}
	return room
}

// compute computes the exponentials of the rows lo, ..., hi-1 of x.
func (r *rowExponentials[T]) compute(x rev.General[T], lo, hi int) {
	for i := lo; i < hi; i++ {
		row := x.Row(i)
		m := maximumOf(row)
		r.maxima[i-lo] = m
		e := r.row(x.Cols, i-lo)
		for j, v := range row {
			e[j] = v - m
		}
	}
	switch e := any(r.e[:(hi-lo)*x.Cols]).(type) {
	case []float64:
		vec.Exp(e, e)
	case []float32:
		vec.Exp(e, e)
	}
}

// row returns row i, of c elements.
func (r *rowExponentials[T]) row(c, i int) []T { return r.e[i*c:][:c] }

// sum returns row i, of c elements, and its sum. ok is false if the sum is not finite: there
// is an element that is NaN or +Inf, or all are -Inf.
func (r *rowExponentials[T]) sum(c, i int) (e []T, s T, ok bool) {
	e = r.row(c, i)
	s = vector.Sum(rev.ViewSlice(e))
	return e, s, float64(s) <= math.MaxFloat64
}

// normalise divides e by its sum s.
func normalise[T rev.Real](e []T, s T) {
	inverse := 1 / s
	for j := range e {
		e[j] *= inverse
	}
}

// byRow reports whether the rows of x are too long for this, or not in floating point.
func byRow[T rev.Real](x rev.General[T], long int) bool { return number.IsFixed[T]() || x.Cols >= long }

// maximumOf returns the maximum of x.
func maximumOf[T rev.Real](x []T) T {
	if len(x) >= 16 {
		return maximum(rev.ViewSlice(x))
	}
	m := lowest[T]()
	for _, v := range x {
		m = max(m, v)
	}
	return m
}

// dotOf returns Σ p_j·x_j.
func dotOf[T rev.Real](p, x []T) T {
	if len(p) >= 16 {
		return vector.Dot(rev.ViewSlice(p), rev.ViewSlice(x))
	}
	var s T
	for j, v := range p {
		s += T(v * x[j])
	}
	return s
}
