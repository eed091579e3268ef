package rev

import (
	"math/bits"
	"unsafe"
)

// An Extent is the memory from the first element of an operand to its last. Methods that
// cmd/revgen writes compare those of all operands before a pass. Most calls have every operand in
// place, of the right size, and apart from all others. The comparisons find that out sooner than
// [Check]. Otherwise they call Check, which knows what is wrong, if anything is.
//
// The Extent of an operand that needs a closer look is apart from none.
type Extent struct {
	data  unsafe.Pointer // because operands on a stack move with it
	bytes uintptr
}

// Apart reports whether e and o share no memory.
func (e Extent) Apart(o Extent) bool {
	d := uintptr(o.data) - uintptr(e.data) // differences wrap around
	return d >= e.bytes && -d >= o.bytes
}

// NumberExtent returns the extent of a scalar operand. It may be nil if optional is set.
func NumberExtent[T any](x *T, optional bool) Extent {
	if x == nil {
		return absentExtent(optional)
	}
	return Extent{unsafe.Pointer(x), unsafe.Sizeof(*x)}
}

// SliceExtent is NumberExtent for n elements. n must not be 0.
func SliceExtent[T any](x []T, n int, optional bool) Extent {
	if len(x) != n || n == 0 {
		return absentExtent(optional && x == nil)
	}
	return Extent{unsafe.Pointer(&x[0]), uintptr(n) * unsafe.Sizeof(x[0])}
}

// VectorExtent is SliceExtent for a vector.
func VectorExtent[T any](x *Vector[T], n int, optional bool) Extent {
	if x.N != n || x.Inc != 1 || uint(n-1) >= uint(len(x.Data)) {
		return rowsExtent(x.Data, x.N, 1, x.Inc, n, 1, optional)
	}
	return Extent{unsafe.Pointer(&x.Data[0]), uintptr(n) * unsafe.Sizeof(x.Data[0])}
}

// MatrixExtent is SliceExtent for an m×n matrix.
func MatrixExtent[T any](x *General[T], m, n int, optional bool) Extent {
	return rowsExtent(x.Data, x.Rows, x.Cols, x.Stride, m, n, optional)
}

// rowsExtent returns the extent of rows of data, which must be m×n.
func rowsExtent[T any](data []T, rows, cols, stride, m, n int, optional bool) Extent {
	hi, last := bits.Mul(uint(rows-1), uint(stride)) // may not fit an int
	if rows != m || cols != n || m <= 0 || n <= 0 || stride < n || hi != 0 || len(data) < n || last > uint(len(data)-n) {
		return absentExtent(optional && data == nil && rows == 0 && (cols == 0 || cols == 1))
	}
	return Extent{unsafe.Pointer(&data[0]), (uintptr(last) + uintptr(n)) * unsafe.Sizeof(data[0])}
}

// absentExtent returns the extent of an operand that is not there, and may be so or not.
func absentExtent(may bool) Extent {
	if may {
		return Extent{}
	}
	return Extent{bytes: ^uintptr(0)} // meets all others
}
