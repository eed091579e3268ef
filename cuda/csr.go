package cuda

import (
	"errors"
	"fmt"

	"revnum/rev"
	"revnum/revsparse"
)

// A CSR is a revsparse.CSR with indices of 32 bits in the memory of a device. Its
// structure, Ptr and Ind, must not change.
type CSR[T any] struct {
	Rows, Cols int
	Ptr, Ind   Memory[int32]
	Data       Memory[T]
}

// NewCSR returns a copy of a in the memory of d. It returns an error if the structure of
// a is not that of a sparse matrix. Call Free when you are done.
func NewCSR[T rev.Real](d *Device, a revsparse.CSR[T, int32]) (c CSR[T], err error) {
	if err := checkStructure(a.Rows, a.Cols, a.Ptr, a.Ind); err != nil {
		return c, err
	}
	c.Rows, c.Cols = a.Rows, a.Cols
	var errs [3]error
	c.Ptr, errs[0] = newMemory(d, a.Ptr)
	c.Ind, errs[1] = newMemory(d, a.Ind)
	c.Data, errs[2] = newMemory(d, a.Data)
	if err := first(errs[:]...); err != nil {
		for _, free := range []func() error{c.Ptr.Free, c.Ind.Free, c.Data.Free} {
			_ = free() // what was not allocated cannot be freed
		}
		return CSR[T]{}, err
	}
	return c, nil
}

// With returns the matrix with the structure of a and other values, such as a cotangent.
func (a CSR[T]) With(data Memory[T]) CSR[T] {
	a.Data = data
	return a
}

// Free gives the memory of a back, with what is kept of its transpose.
func (a CSR[T]) Free() error {
	return errors.Join(a.Ptr.Free(), a.Ind.Free(), a.Data.Free())
}

func checkStructure(rows, cols int, ptr, ind []int32) error {
	if rows < 0 || cols < 0 || len(ptr) != rows+1 || ptr[0] != 0 || int(ptr[rows]) != len(ind) {
		return fmt.Errorf("cuda: %d row pointers of a %d×%d matrix with %d entries", len(ptr), rows, cols, len(ind))
	}
	for i := range rows {
		if ptr[i] > ptr[i+1] {
			return fmt.Errorf("cuda: row %d begins at entry %d and ends at %d", i, ptr[i], ptr[i+1])
		}
	}
	for e, j := range ind {
		if j < 0 || int(j) >= cols {
			return fmt.Errorf("cuda: entry %d stands in column %d of %d", e, j, cols)
		}
	}
	return nil
}

// A structure says where the entries of a sparse matrix are. Entry e has the value
// data[perm[e]], or data[e] if there is no perm.
type structure struct {
	rows, cols     int
	ptr, ind, perm Memory[int32]
}

// structureOf returns the structure of a or of its transpose.
func structureOf[T any](d *Device, a CSR[T], trans bool) (structure, error) {
	if !trans {
		return structure{rows: a.Rows, cols: a.Cols, ptr: a.Ptr, ind: a.Ind}, nil
	}
	d.mu.Lock()
	s, ok := d.transposes[a.Ptr.address()]
	d.mu.Unlock()
	if ok {
		return s, nil
	}
	ptr, ind := make([]int32, len(a.Ptr)), make([]int32, len(a.Ind))
	if err := first(a.Ptr.Get(ptr), a.Ind.Get(ind)); err != nil {
		return s, err
	}
	if err := checkStructure(a.Rows, a.Cols, ptr, ind); err != nil {
		return s, err
	}
	tptr, tind, perm := transpose(a.Rows, a.Cols, ptr, ind)
	s = structure{rows: a.Cols, cols: a.Rows}
	var errs [3]error
	s.ptr, errs[0] = newMemory(d, tptr)
	s.ind, errs[1] = newMemory(d, tind)
	s.perm, errs[2] = newMemory(d, perm)
	if err := first(errs[:]...); err != nil {
		return s, err
	}
	d.mu.Lock()
	d.transposes[a.Ptr.address()] = s
	d.mu.Unlock()
	return s, nil
}

// transpose returns the structure of the transpose, and where its entries are in the
// matrix. The entries of a row of it are in the order of their columns.
func transpose(rows, cols int, ptr, ind []int32) (tptr, tind, perm []int32) {
	tptr = make([]int32, cols+1)
	for _, j := range ind {
		tptr[j+1]++
	}
	for j := range cols {
		tptr[j+1] += tptr[j]
	}
	next := append([]int32(nil), tptr...)
	tind, perm = make([]int32, len(ind)), make([]int32, len(ind))
	for i := range rows {
		for e := ptr[i]; e < ptr[i+1]; e++ {
			at := next[ind[e]]
			next[ind[e]]++
			tind[at], perm[at] = int32(i), e
		}
	}
	return tptr, tind, perm
}
