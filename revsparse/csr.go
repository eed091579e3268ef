package revsparse

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// Index is the constraint of the integers that structure is stored in.
type Index interface {
	int | int32
}

// CSR is a view of a sparse matrix that is stored by rows (compressed sparse rows). The
// entries of row i are those from Ptr[i] to Ptr[i+1]-1. Entry p has the value Data[p]
// and is in column Ind[p]. Columns may come in any order, and entries of the same row
// and column add up.
//
// A matrix that is stored by columns (CSC) is the CSR of its transpose, with the same
// storage.
//
// In a kernel, the operand of the equation gives the structure. Of cotangents and
// tangents only Data is read, and a nil Data asks for no derivative. The slices are
// yours. Kernels check their lengths. NewCSR checks their contents too. Without it, a
// column that is not in the matrix makes a kernel read memory that is not its operand's.
type CSR[T any, I Index] struct {
	Rows, Cols int
	Ptr        []I // Rows+1 of them
	Ind        []I
	Data       []T
}

// NewCSR returns the view of ptr, ind and data without copying them. It returns an
// error that names the row and the entry if they do not make a rows×cols matrix.
// Columns need not be sorted, and may repeat.
func NewCSR[T any, I Index](rows, cols int, ptr, ind []I, data []T) (CSR[T, I], error) {
	a := CSR[T, I]{Rows: rows, Cols: cols, Ptr: ptr, Ind: ind, Data: data}
	switch fault := a.lengthError(); {
	case fault != "":
		return CSR[T, I]{}, fmt.Errorf("revsparse: the matrix %s", fault)
	case len(data) != len(ind):
		return CSR[T, I]{}, fmt.Errorf("revsparse: the matrix has %d values for %d column indices", len(data), len(ind))
	case !fits[I](rows) || !fits[I](cols) || !fits[I](len(ind)):
		return CSR[T, I]{}, fmt.Errorf("revsparse: %d rows, %d columns or %d entries are more than %T counts", rows, cols, len(ind), I(0))
	}
	for i := range rows {
		if ptr[i+1] < ptr[i] || int(ptr[i+1]) > len(ind) {
			return CSR[T, I]{}, fmt.Errorf("revsparse: row %d is from entry %d to %d, of %d", i, ptr[i], ptr[i+1], len(ind))
		}
		for p := ptr[i]; p < ptr[i+1]; p++ {
			if j := int(ind[p]); j < 0 || j >= cols {
				return CSR[T, I]{}, fmt.Errorf("revsparse: row %d, entry %d: column %d is not in [0, %d)", i, p, j, cols)
			}
		}
	}
	return a, nil
}

// fits reports whether indices of type I can count to n, which is not negative.
func fits[I Index](n int) bool { return int(I(n)) == n }

// NNZ returns the number of entries.
func (a CSR[T, I]) NNZ() int { return len(a.Ind) }

// With returns the matrix with the structure of a and the given values, such as
// tangents or cotangents.
func (a CSR[T, I]) With(data []T) CSR[T, I] {
	a.Data = data
	return a
}

// Dense returns a copy of the matrix that stores all elements. It panics if a has entries
// without values.
func Dense[T rev.Number, I Index](a CSR[T, I]) rev.General[T] {
	a.check()
	if len(a.Data) != len(a.Ind) {
		panic(rev.ShapeError[CSR[T, I]]("Data", "has no values"))
	}
	d := rev.NewGeneral[T](a.Rows, a.Cols, nil)
	for i := range a.Rows {
		row := d.Row(i)
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			row[a.Ind[p]] += a.Data[p]
		}
	}
	return d
}

// Transpose returns the transpose of a, in storage of its own. Its rows are sorted by
// columns, and entries of the same place stay in order. If Data is nil, the transpose has
// none either.
func (a CSR[T, I]) Transpose() CSR[T, I] {
	a.check()
	t := CSR[T, I]{
		Rows: a.Cols, Cols: a.Rows,
		Ptr: make([]I, a.Cols+1), Ind: make([]I, len(a.Ind)),
	}
	from := make([]I, len(a.Ind))
	transpose(&t, a, from)
	if a.Data != nil {
		t.Data = make([]T, len(a.Data))
		for q, p := range from {
			t.Data[q] = a.Data[p]
		}
	}
	return t
}

// transpose sets Ptr and Ind of t, which have room, to the structure of the transpose
// of a. It sets from to the places of its entries in a.
func transpose[T any, I Index](t *CSR[T, I], a CSR[T, I], from []I) {
	clear(t.Ptr)
	for _, j := range a.Ind {
		t.Ptr[j]++
	}
	end := I(0)
	for j := range t.Ptr {
		end += t.Ptr[j]
		t.Ptr[j] = end
	}
	// Ptr[j] is the end of row j here, and counts down to its beginning.
	for i := a.Rows - 1; i >= 0; i-- {
		for p := a.Ptr[i+1] - 1; p >= a.Ptr[i]; p-- {
			j := a.Ind[p]
			t.Ptr[j]--
			q := t.Ptr[j]
			t.Ind[q], from[q] = I(i), p
		}
	}
}

// IsSorted reports whether the columns of each row are in ascending order. They may
// repeat.
func (a CSR[T, I]) IsSorted() bool {
	for i := range a.Rows {
		if !slices.IsSorted(a.Ind[a.Ptr[i]:a.Ptr[i+1]]) {
			return false
		}
	}
	return true
}

// Sorted returns a if its columns are in ascending order in each row, and otherwise a
// copy in which they are. Entries of the same place stay in order. If Data is nil, the
// copy has none either.
func (a CSR[T, I]) Sorted() CSR[T, I] {
	a.check()
	if a.IsSorted() {
		return a
	}
	order := make([]I, len(a.Ind))
	for p := range order {
		order[p] = I(p)
	}
	s := a
	s.Ind = make([]I, len(a.Ind))
	if a.Data != nil {
		s.Data = make([]T, len(a.Data))
	}
	for i := range a.Rows {
		slices.SortStableFunc(order[a.Ptr[i]:a.Ptr[i+1]], func(p, q I) int { return cmp.Compare(a.Ind[p], a.Ind[q]) })
	}
	for q, p := range order {
		s.Ind[q] = a.Ind[p]
		if a.Data != nil {
			s.Data[q] = a.Data[p]
		}
	}
	return s
}

// check panics unless a is well formed.
func (a *CSR[T, I]) check() { CheckOperand[CSR[T, I]](a, "the structure") }

// outOfRange returns the error for a column index that is not in the matrix.
func (a *CSR[T, I]) outOfRange() error {
	return rev.Misuse[CSR[T, I]](mat.ErrColAccess, "Ind", "has a column outside of the %d columns", a.Cols)
}

// CheckOperand panics with a *rev.OperandError, which names the kernel K and its operand,
// unless the lengths of the slices of a fit its shape and row pointers. Data may be nil. The
// Run of a kernel with such an operand begins with it, because tags cannot say this.
func CheckOperand[K, T any, I Index](a *CSR[T, I], operand string) {
	if fault := a.lengthError(); fault != "" {
		panic(rev.ShapeError[K](operand, "%s", fault))
	}
}

// checkOutput is CheckOperand for an output, whose structure says what is computed. It panics
// unless that has the given shape, as tags say nothing of an output whose Data is nil.
func checkOutput[K, T any, I Index](a *CSR[T, I], operand string, rows, cols int) {
	if a.Rows != rows || a.Cols != cols {
		panic(rev.ShapeError[K](operand, "has a structure of %d×%d, want %d×%d (only its Data may be nil)", a.Rows, a.Cols, rows, cols))
	}
	CheckOperand[K](a, operand)
}

// lengthError says how the lengths of the slices of a do not fit its shape and row pointers.
// It is empty if they do. Data may be nil.
func (a *CSR[T, I]) lengthError() string {
	switch {
	case a.Rows < 0 || a.Cols < 0:
		return fmt.Sprintf("is %d×%d", a.Rows, a.Cols)
	case a.Rows == 0 && len(a.Ptr) == 0 && len(a.Ind) == 0:
	case len(a.Ptr) != a.Rows+1:
		return fmt.Sprintf("has %d row pointers for %d rows, want one more than rows", len(a.Ptr), a.Rows)
	case a.Ptr[0] != 0:
		return fmt.Sprintf("has a first row that begins at entry %d", a.Ptr[0])
	case int(a.Ptr[a.Rows]) != len(a.Ind):
		return fmt.Sprintf("has a last row that ends at entry %d, but %d column indices", a.Ptr[a.Rows], len(a.Ind))
	}
	if a.Data != nil && len(a.Data) != len(a.Ind) {
		return fmt.Sprintf("has %d values for %d column indices", len(a.Data), len(a.Ind))
	}
	return ""
}
