package rev

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// A region is the memory of an operand: element (i, j) of rows×cols elements
// is i*stride+j elements after data. The region of a nil scalar is empty.
type region struct {
	data               unsafe.Pointer
	rows, cols, stride int
	bytes              uintptr // from the first element to the end of the last
}

func (r *region) empty() bool { return r.rows == 0 || r.cols == 0 }

// span returns the number of elements from the first to the last one.
func (r *region) span() int { return (r.rows-1)*r.stride + r.cols }

// size describes the size of an operand for a message. For a sparse matrix it is the
// number of entries.
func (r *region) size(k Kind) string {
	if k == Gen {
		return fmt.Sprintf("%d×%d", r.rows, r.cols)
	}
	return fmt.Sprint(r.rows)
}

// describe returns a verb and the size of an operand, such as "has length 3".
func (r *region) describe(k Kind) string {
	if k == Gen {
		return "is " + r.size(k)
	}
	return "has length " + r.size(k)
}

// A sliceHeader is a slice of any element type.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// header returns the slice that holds the elements of an operand that is no scalar.
func (f *field) header(v unsafe.Pointer) *sliceHeader { return (*sliceHeader)(unsafe.Add(v, f.data)) }

// isNil reports whether the operand in the kernel value v is nil.
func (f *field) isNil(v unsafe.Pointer) bool { return *(*unsafe.Pointer)(unsafe.Add(v, f.data)) == nil }

// load sets r to the region of the operand in the kernel value v, and reports whether it
// is well formed.
func (f *field) load(v unsafe.Pointer, r *region) bool {
	_, bad := load(unsafe.Slice(f, 1), v, unsafe.Slice(r, 1), false)
	return bad < 0
}

// load sets the regions to those of the operands in the kernel value v, without indices if
// derivative is set. It returns the set of the operands that are nil, and the index of the
// first that is not well formed, or -1.
func load(fields []field, v unsafe.Pointer, room []region, derivative bool) (absent uint64, bad int) {
	fields = fields[:len(room)]
	for i := range fields {
		f, r := &fields[i], &room[i]
		if derivative && f.Role == Index {
			continue
		}
		data := *(*unsafe.Pointer)(unsafe.Add(v, f.data))
		if data == nil {
			absent |= 1 << i
		}
		// The headers of slices and views do not depend on the element type.
		p := unsafe.Add(v, f.offset)
		n, rows, cols, stride := 1, 1, 1, 1
		switch f.Kind {
		case Scalar:
			if data == nil {
				rows = 0
			}
		case Slice:
			n = len(*(*[]byte)(p))
			rows = n
		case Vec:
			x := (*Vector[byte])(p)
			n, rows, stride = len(x.Data), x.N, x.Inc
		case Gen:
			m := (*General[byte])(p)
			n, rows, cols, stride = len(m.Data), m.Rows, m.Cols, m.Stride
		case Sparse:
			m := (*sparse)(p)
			n = len(m.Data)
			rows = max(n, len(m.Ind))
		}
		r.data, r.rows, r.cols, r.stride, r.bytes = data, rows, cols, stride, 0
		if data == nil || rows <= 0 || cols <= 0 {
			if rows < 0 || cols < 0 || stride == emptyStride {
				return absent, i
			}
			continue
		}
		// The product may not fit an int.
		hi, last := bits.Mul(uint(rows-1), uint(stride))
		if stride < cols || hi != 0 || n < cols || last > uint(n-cols) {
			return absent, i
		}
		r.bytes = (uintptr(last) + uintptr(cols)) * f.size
	}
	return absent, -1
}

// put makes the operand in the kernel value v a view of data.
func (f *field) put(v unsafe.Pointer, data sliceHeader, rows, cols, stride int) {
	*f.header(v) = data
	p := unsafe.Add(v, f.offset)
	if f.Kind == Vec {
		x := (*Vector[byte])(p)
		x.N, x.Inc = rows, stride
		return
	}
	m := (*General[byte])(p)
	m.Rows, m.Cols, m.Stride = rows, cols, stride
}

// overlap reports whether a and b share an element. Disjoint blocks of one matrix
// share none, and neither do disjoint columns. Views of more than one row whose
// strides differ are assumed to share an element if the ranges of memory that they
// span overlap, as in gonum's mat.
func overlap(a, b *region) bool {
	pa, pb := uintptr(a.data), uintptr(b.data)
	if pa > pb {
		a, b, pa, pb = b, a, pb, pa
	}
	if a.bytes == 0 || b.bytes == 0 || pa+a.bytes <= pb {
		return false
	}
	size := a.bytes / uintptr(a.span())
	// The first element of b lies in the span of a.
	if size != b.bytes/uintptr(b.span()) || (pb-pa)%size != 0 {
		return true
	}
	off := int((pb - pa) / size)
	if a.rows == 1 || a.stride == a.cols {
		return true // a has no gaps
	}
	row := b.cols // length of a run of b
	if b.stride == b.cols {
		row *= b.rows
	} else if b.rows > 1 && b.stride != a.stride {
		return true // too hard, so assume the worst
	}
	// In units of rows of a, b begins in row i at column j.
	i, j := off/a.stride, off%a.stride
	if j < a.cols {
		return true
	}
	// All rows of b begin in gaps of a. If they are longer than the rest of the gap,
	// the first one meets row i+1 of a, if there is one.
	return j+row > a.stride && i+1 < a.rows
}
