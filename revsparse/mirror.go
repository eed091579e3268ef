package revsparse

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"revnum/internal/workspace"
	"revnum/rev"
)

// mirroredMatrix is the symmetric matrix of a kernel's operand, with both triangles stored,
// in float64. It is scaled by 2^-exp so that the largest element is between 1/2 and 1.
type mirroredMatrix[I Index] struct {
	full    CSR[float64, I]
	exp     int
	norm    float64 // the largest sum of magnitudes of a row
	workers int

	// The operand that full was last made from, and the tolerance of its check. Usually
	// the next call has the same.
	of  CSR[float64, I]
	tol float64

	t     CSR[float64, I] // the transpose of the operand, without its values
	from  []I             // places of its entries in the operand
	skew  []float64       // a row of the differences between both triangles
	skews []float64       // sums of their magnitudes in each row
}

// NotSymmetricError is the error of a matrix whose entries above the diagonal differ
// from those below it. A symmetric matrix is stored as its lower triangle, or in full.
type NotSymmetricError struct {
	Row, Col      int     // below the diagonal
	Value, Mirror float64 // elements (Row, Col) and (Col, Row)
}

func (e *NotSymmetricError) Error() string {
	return fmt.Sprintf("revsparse: the matrix is not symmetric: element (%d, %d) is %v, element (%d, %d) is %v: store the lower triangle, or both",
		e.Row, e.Col, e.Value, e.Col, e.Row, e.Mirror)
}

// setMirrored makes m the symmetric matrix of a, unless it is already, and reports
// whether it did. It returns an error if a has elements above the diagonal and is not
// symmetric within tol·‖a‖, if it has elements that are infinite or NaN (errNotFinite),
// or if indices of type I cannot count the entries.
func setMirrored[T rev.Float, I Index](m *mirroredMatrix[I], a CSR[T, I], tol float64) (made bool, err error) {
	if m.isOf(a.Rows, a.Ptr, a.Ind, tol) && sameAs(m.of.Data, a.Data) {
		return false, nil
	}
	m.of.Rows = -1 // no operand, if this fails
	n := a.Rows
	f := &m.full
	f.Rows, f.Cols = n, n
	f.Ptr = workspace.Zeros(f.Ptr, n+1)
	entries, top, above := 0, 0.0, false
	for i := range n {
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			j := int(a.Ind[p])
			if j > i {
				above = above || a.Data[p] != 0
				continue
			}
			if v := math.Abs(float64(a.Data[p])); v > top || math.IsNaN(v) {
				top = v // keeps a NaN
			}
			f.Ptr[i]++
			entries++
			if j < i {
				f.Ptr[j]++
				entries++
			}
		}
	}
	if !fits[I](entries) {
		return false, fmt.Errorf("revsparse: the %d entries of both triangles are more than %T counts", entries, I(0))
	}
	if !(top <= math.MaxFloat64) {
		return false, errNotFinite
	}
	_, m.exp = math.Frexp(top)

	// Ptr[i] counts up from the beginning of row i to the beginning of the next.
	var begin I
	for i := range f.Ptr {
		begin, f.Ptr[i] = begin+f.Ptr[i], begin
	}
	f.Ind, f.Data = workspace.Grow(f.Ind, entries), workspace.Grow(f.Data, entries)
	put := func(i, j int, v float64) {
		p := f.Ptr[i]
		f.Ind[p], f.Data[p] = I(j), v
		f.Ptr[i]++
	}
	for i := range n {
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			j := int(a.Ind[p])
			if j > i {
				continue
			}
			v := math.Ldexp(float64(a.Data[p]), -m.exp)
			put(i, j, v)
			if j < i {
				put(j, i, v)
			}
		}
	}
	copy(f.Ptr[1:], f.Ptr[:n])
	f.Ptr[0] = 0

	m.norm = 0
	for i := range n {
		s := 0.0
		for _, v := range f.Data[f.Ptr[i]:f.Ptr[i+1]] {
			s += math.Abs(v)
		}
		m.norm = max(m.norm, s)
	}

	m.of.Ptr, m.of.Ind = append(m.of.Ptr[:0], a.Ptr...), append(m.of.Ind[:0], a.Ind...)
	m.of.Data = workspace.Grow(m.of.Data, len(a.Data))
	for p, v := range a.Data {
		m.of.Data[p] = float64(v)
	}
	if above {
		if err := m.checkSymmetric(n, tol); err != nil {
			return false, err
		}
	}
	m.of.Rows, m.tol = n, tol
	return true, nil
}

// errNotFinite makes callers of setMirrored return a *rev.ConvergenceError.
var errNotFinite = errors.New("revsparse: elements are infinite or NaN")

// isOf reports whether m was made from a matrix with this structure.
func (m *mirroredMatrix[I]) isOf(rows int, ptr, ind []I, tol float64) bool {
	return m.of.Rows == rows && m.tol == tol && slices.Equal(m.of.Ptr, ptr) && slices.Equal(m.of.Ind, ind)
}

// sameAs reports whether x has the values y.
func sameAs[T rev.Float](x []float64, y []T) bool {
	for p, v := range y {
		if x[p] != float64(v) {
			return false
		}
	}
	return true
}

// checkSymmetric returns an error unless the largest sum of |a_ij - a_ji| over a row of
// the n×n matrix is at most tol·‖A‖.
func (m *mirroredMatrix[I]) checkSymmetric(n int, tol float64) error {
	a, t := &m.of, &m.t
	t.Ptr, t.Ind, m.from = workspace.Grow(t.Ptr, n+1), workspace.Grow(t.Ind, len(a.Ind)), workspace.Grow(m.from, len(a.Ind))
	a.Rows, a.Cols = n, n
	transpose(t, *a, m.from)
	a.Rows = -1
	m.skew, m.skews = workspace.Zeros(m.skew, n), workspace.Zeros(m.skews, n)
	worst, row, col := 0.0, 0, 0
	for i := range n {
		lower, upper := a.Ind[a.Ptr[i]:a.Ptr[i+1]], t.Ind[t.Ptr[i]:t.Ptr[i+1]]
		for q, j := range lower {
			m.skew[j] += math.Ldexp(a.Data[int(a.Ptr[i])+q], -m.exp)
		}
		for q, j := range upper {
			m.skew[j] -= math.Ldexp(a.Data[m.from[int(t.Ptr[i])+q]], -m.exp)
		}
		for _, list := range [...][]I{lower, upper} {
			for _, j := range list {
				d := math.Abs(m.skew[j])
				m.skew[j] = 0
				if int(j) >= i {
					continue
				}
				m.skews[i] += d
				m.skews[j] += d
				if d > worst || math.IsNaN(d) {
					worst, row, col = d, i, int(j)
				}
			}
		}
	}
	for _, s := range m.skews {
		if !(s <= tol*m.norm) {
			return &NotSymmetricError{Row: row, Col: col, Value: element(a, row, col), Mirror: element(a, col, row)}
		}
	}
	return nil
}

// element returns the sum of the entries of row i and column j.
func element[I Index](a *CSR[float64, I], i, j int) (v float64) {
	for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
		if int(a.Ind[p]) == j {
			v += a.Data[p]
		}
	}
	return v
}

// mulTo computes y = A·x.
func (m *mirroredMatrix[I]) mulTo(y, x []float64) {
	clear(y)
	k := Mul[float64, I]{
		C: rev.General[float64]{Rows: len(y), Cols: 1, Data: y, Stride: 1}, A: m.full,
		B: rev.General[float64]{Rows: len(x), Cols: 1, Data: x, Stride: 1}, Workers: m.workers,
	}
	k.Forward()
}

// addMulSymmetric computes y += alpha·D·x for the symmetric matrix D with the structure
// of the lower triangle of a and the given values.
func addMulSymmetric[T rev.Float, I Index](y []float64, alpha float64, a CSR[T, I], data []T, x []float64) {
	for i := range a.Rows {
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			j := int(a.Ind[p])
			if j > i {
				continue
			}
			d := alpha * float64(data[p])
			y[i] += float64(d * x[j])
			if j < i {
				y[j] += float64(d * x[i])
			}
		}
	}
}

// addSymmetric adds alpha·u·vᵀ to data at the lower triangle of a. An entry also stands
// for its mirror image.
func addSymmetric[T rev.Float, I Index](data []T, a CSR[T, I], alpha float64, u, v []float64) {
	for i := range a.Rows {
		ui, vi := alpha*u[i], alpha*v[i]
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			switch j := int(a.Ind[p]); {
			case j < i:
				data[p] += T(float64(ui*v[j]) + float64(u[j]*vi))
			case j == i:
				data[p] += T(ui * v[i])
			}
		}
	}
}
