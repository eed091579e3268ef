package cuda

import (
	"errors"
	"fmt"
	"math"

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
	if err := keepCuts(d, c, a.Ptr); err != nil {
		return CSR[T]{}, errors.Join(err, release(d, c.Ptr), release(d, c.Ind), release(d, c.Data))
	}
	return c, nil
}

// With returns the matrix with the structure of a and other values, such as a cotangent.
func (a CSR[T]) With(data Memory[T]) CSR[T] {
	a.Data = data
	return a
}

// Free gives the memory of a back, with what is kept of its rows and of its transpose.
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
	cuts
}

// free gives back the structure of a transpose. It may be incomplete.
func (s structure) free(d *Device) error {
	return errors.Join(release(d, s.ptr), release(d, s.ind), release(d, s.perm), release(d, s.list))
}

// cuts say how threads share the rows of a matrix. Rows of more than longest entries are cut into pieces,
// so that a few long rows do not take longer than all the others.
type cuts struct {
	share, longest int           // threads of a row that is not cut, and the most entries of such a row
	pieces, cut    int           // how many pieces there are, and how many rows they are of
	list           Memory[int32] // of each piece its ends and its row, and then of each row that and the ends of its pieces
}

// newCuts cuts the rows of a matrix. A row that is not cut has half as many threads as the mean number of
// entries in such rows, or fewer, and each of the threads has up to bounds.turns entries.
func newCuts(d *Device, ptr []int32) (c cuts, err error) {
	rows, entries := len(ptr)-1, int(ptr[len(ptr)-1])
	c.longest = math.MaxInt32
	for short, before := rows, -1; short != before; {
		c.share, before = 1, short
		for c.share < warp && 4*c.share*short <= entries {
			c.share *= 2
		}
		c.longest = min(c.longest, bounds.turns*c.share)
		short, entries = 0, 0
		for i := range rows {
			if n := int(ptr[i+1] - ptr[i]); n <= c.longest {
				short++
				entries += n
			}
		}
	}
	var list, ends []int32
	for i := range rows {
		begin, end := int(ptr[i]), int(ptr[i+1])
		if end-begin <= c.longest {
			continue
		}
		c.cut++
		ends = append(ends, int32(i), int32(c.pieces))
		for ; begin < end; begin += bounds.piece {
			list = append(list, int32(begin), int32(min(end, begin+bounds.piece)), int32(i))
			c.pieces++
		}
		ends = append(ends, int32(c.pieces))
	}
	if c.cut > 0 {
		c.list, err = copyTo(d, append(list, ends...))
	}
	return c, err
}

// A source is what is kept was computed from: the memory of row pointers and column indices, or ind alone,
// and the shape. What is kept is the structure of the transpose, or the cuts of the matrix itself.
type source struct {
	ptr, ind   uintptr
	rows, cols int
	own        bool
}

func sourceOf[T any](a CSR[T], own bool) source {
	return source{a.Ptr.address(), a.Ind.address(), a.Rows, a.Cols, own}
}

// keepCuts keeps the cuts of a, whose row pointers are ptr.
func keepCuts[T any](d *Device, a CSR[T], ptr []int32) error {
	c, err := newCuts(d, ptr)
	if err == nil {
		d.kept[sourceOf(a, true)] = structure{cuts: c}
	}
	return err
}

// structureOf returns the structure of a or of its transpose.
func structureOf[T any](w *pass, a CSR[T], trans bool) structure {
	if w.err != nil || w.dev == nil {
		return structure{}
	}
	from := sourceOf(a, !trans)
	s, ok := w.dev.kept[from]
	if !ok {
		if s, w.err = newStructure(w.dev, a, trans); w.err == nil {
			w.dev.kept[from] = s
		}
	}
	if !trans {
		s.rows, s.cols, s.ptr, s.ind = a.Rows, a.Cols, a.Ptr, a.Ind
	}
	return s
}

// newStructure returns what is kept of a matrix or of its transpose.
func newStructure[T any](d *Device, a CSR[T], trans bool) (s structure, err error) {
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
	if trans {
		rows, cols := a.Rows, a.Cols
		if s, err = copyTranspose(d, rows, cols, ptr, ind); err != nil {
			return s, err
		}
		ptr = transposedPtr(cols, ind)
	}
	if s.cuts, err = newCuts(d, ptr); err != nil {
		return structure{}, errors.Join(err, s.free(d))
	}
	return s, nil
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
	tptr = transposedPtr(cols, ind)
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

// transposedPtr returns the row pointers of the transpose.
func transposedPtr(cols int, ind []int32) []int32 {
	ptr := make([]int32, cols+1)
	for _, j := range ind {
		ptr[j+1]++
	}
	for j := range cols {
		ptr[j+1] += ptr[j]
	}
	return ptr
}
