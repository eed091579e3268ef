package revsparse

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// FromTriplets returns the rows×cols matrix with the values val[p] in row row[p] and
// column col[p], counted from 0, in storage of its own. Its rows are sorted by columns.
// Values of the same place are summed in order. It returns an error if a place is
// outside the matrix, or if the lengths of the slices differ.
func FromTriplets[T rev.Number, I Index](rows, cols int, row, col []I, val []T) (CSR[T, I], error) {
	switch {
	case rows < 0 || cols < 0:
		return CSR[T, I]{}, fmt.Errorf("revsparse: a matrix of %d×%d elements", rows, cols)
	case !fits[I](rows) || !fits[I](cols) || !fits[I](len(val)):
		return CSR[T, I]{}, fmt.Errorf("revsparse: %d rows, %d columns or %d entries are more than %T counts", rows, cols, len(val), I(0))
	case len(row) != len(val) || len(col) != len(val):
		return CSR[T, I]{}, fmt.Errorf("revsparse: %d rows and %d columns for %d values", len(row), len(col), len(val))
	}
	a := CSR[T, I]{Rows: rows, Cols: cols, Ptr: make([]I, rows+1), Ind: make([]I, len(val)), Data: make([]T, len(val))}
	for p, i := range row {
		if j := col[p]; i < 0 || int(i) >= rows || j < 0 || int(j) >= cols {
			return CSR[T, I]{}, fmt.Errorf("revsparse: entry %d: row %d, column %d is not in a matrix of %d×%d elements", p, i, j, rows, cols)
		}
		a.Ptr[i+1]++
	}
	for i := range rows {
		a.Ptr[i+1] += a.Ptr[i]
	}
	next := slices.Clone(a.Ptr[:rows])
	for p, i := range row {
		a.Ind[next[i]], a.Data[next[i]] = col[p], val[p]
		next[i]++
	}

	a = a.Sorted()
	end := I(0)
	for i := range rows {
		lo, hi := a.Ptr[i], a.Ptr[i+1]
		a.Ptr[i] = end
		for p := lo; p < hi; p++ {
			if end > a.Ptr[i] && a.Ind[end-1] == a.Ind[p] {
				a.Data[end-1] += a.Data[p]
				continue
			}
			a.Ind[end], a.Data[end] = a.Ind[p], a.Data[p]
			end++
		}
	}
	a.Ptr[rows] = end
	a.Ind, a.Data = a.Ind[:end], a.Data[:end]
	return a, nil
}

// FromMatrix returns the matrix of the elements of m that are not zero, in storage of
// its own, with rows sorted by columns. If m is a mat.NonZeroDoer, such as a band
// matrix or any type of github.com/james-bowman/sparse, or the transpose of one, only
// its DoNonZero is called. Zeros that it reports stay entries. Parts of an element, as
// in a COO, are summed.
func FromMatrix(m mat.Matrix) CSR[float64, int] {
	if t, ok := m.(mat.Untransposer); ok {
		return FromMatrix(t.Untranspose()).Transpose()
	}
	rows, cols := m.Dims()
	var row, col []int
	var val []float64
	add := func(i, j int, v float64) { row, col, val = append(row, i), append(col, j), append(val, v) }
	if sparse, ok := m.(mat.NonZeroDoer); ok {
		sparse.DoNonZero(add)
	} else {
		for i := range rows {
			for j := range cols {
				if v := m.At(i, j); v != 0 {
					add(i, j, v)
				}
			}
		}
	}
	a, err := FromTriplets(rows, cols, row, col, val)
	if err != nil {
		panic(err) // m violates the contract of its type
	}
	return a
}
