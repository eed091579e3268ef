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
// a is not that of a sparse matrix. Call Free when you are done:
//
//	a, err := cuda.NewCSR(dev, hostA)
//	defer a.Free()
//	k := cuda.Mul[float64]{C: c, A: a, B: b}
func NewCSR[T rev.Real](d *Device, a revsparse.CSR[T, int32]) (c CSR[T], err error) {
	if err := checkStructure(a.Rows, a.Cols, a.Ptr, a.Ind); err != nil {
		return c, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c.Rows, c.Cols = a.Rows, a.Cols
	if c.Ptr, err = copyTo(d, a.Ptr); err != nil {
		return CSR[T]{}, err
	}
	if c.Ind, err = copyTo(d, a.Ind); err != nil {
		return CSR[T]{}, errors.Join(err, release(d, c.Ptr))
	}
	if c.Data, err = copyTo(d, a.Data); err != nil {
		return CSR[T]{}, errors.Join(err, release(d, c.Ptr), release(d, c.Ind))
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

// free gives back the structure of a transpose. It may be incomplete.
func (s structure) free(d *Device) error {
	return errors.Join(release(d, s.ptr), release(d, s.ind), release(d, s.perm))
}

// A source is what a structure that is kept was computed from: the memory of row pointers and
// column indices, or ind alone, and the shape.
type source struct {
	ptr, ind   uintptr
	rows, cols int
}

// structureOf returns the structure of a or of its transpose.
func structureOf[T any](w *pass, a CSR[T], trans bool) structure {
	if !trans {
		return structure{rows: a.Rows, cols: a.Cols, ptr: a.Ptr, ind: a.Ind}
	}
	if w.err != nil || w.dev == nil {
		return structure{}
	}
	from := source{a.Ptr.address(), a.Ind.address(), a.Rows, a.Cols}
	s, ok := w.dev.transposes[from]
	if !ok {
		if s, w.err = newTranspose(w.dev, a); w.err == nil {
			w.dev.transposes[from] = s
		}
	}
	return s
}

func newTranspose[T any](d *Device, a CSR[T]) (s structure, err error) {
	ptr, ind := make([]int32, len(a.Ptr)), make([]int32, len(a.Ind))
	if err := d.first.toHost(a.Ptr.address(), bytesOf(ptr)); err != nil {
		return s, wrap(err)
	}
	if len(ind) > 0 {
		if err := d.first.toHost(a.Ind.address(), bytesOf(ind)); err != nil {
			return s, wrap(err)
		}
	}
	if err := checkStructure(a.Rows, a.Cols, ptr, ind); err != nil {
		return s, err
	}
	return copyTranspose(d, a.Rows, a.Cols, ptr, ind)
}

// copyTranspose copies the structure of the transpose of a matrix to the device.
func copyTranspose(d *Device, rows, cols int, ptr, ind []int32) (s structure, err error) {
	tptr, tind, perm := transpose(rows, cols, ptr, ind)
	s = structure{rows: cols, cols: rows}
	if s.ptr, err = copyTo(d, tptr); err == nil {
		if s.ind, err = copyTo(d, tind); err == nil {
			s.perm, err = copyTo(d, perm)
		}
	}
	if err != nil {
		return structure{}, errors.Join(err, s.free(d))
	}
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
