package rules

import (
	"fmt"
	"reflect"
	"unsafe"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revsparse"
)

// Type is a type of elements.
type Type int32

// The types of elements. An Int is the int of Go, of 64 bits on most machines.
const (
	Float64 Type = iota + 1
	Float32
	Q43 // fixed.Q43, an int64 in units of 2⁻⁴³
	Complex128
	Int
)

var types = [...]struct {
	name  string
	typ   reflect.Type
	align uintptr
}{
	Float64:    {"float64", reflect.TypeFor[float64](), unsafe.Alignof(float64(0))},
	Float32:    {"float32", reflect.TypeFor[float32](), unsafe.Alignof(float32(0))},
	Q43:        {"Q43", reflect.TypeFor[fixed.Q43](), unsafe.Alignof(fixed.Q43(0))},
	Complex128: {"complex128", reflect.TypeFor[complex128](), unsafe.Alignof(complex128(0))},
	Int:        {"int", reflect.TypeFor[int](), unsafe.Alignof(0)},
}

// String returns the name of t, such as "float64".
func (t Type) String() string {
	if t < Float64 || t > Int {
		return fmt.Sprintf("type %d", int32(t))
	}
	return types[t].name
}

func (t Type) size() uintptr { return types[t].typ.Size() }

func (t Type) align() uintptr { return types[t].align }

// MarshalText implements encoding.TextMarshaler.
func (t Type) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// typeOf returns the Type of elements of type t.
func typeOf(t reflect.Type) (Type, bool) {
	for i := Float64; i <= Int; i++ {
		if types[i].typ == t {
			return i, true
		}
	}
	return 0, false
}

// A Buffer is memory of an operand. [Scalar], [Slice], [Vector], [Matrix] and [CSR]
// make one. The zero Buffer is an operand that is left out.
type Buffer struct {
	Data unsafe.Pointer // the first element; nil if the operand is left out
	Len  int            // elements from Data to the end of the memory
	Type Type

	// A number has no axes, a vector one and a matrix two. Element (i, j) of a matrix is
	// i·Stride[0] + j·Stride[1] elements after Data. Kernels take matrices whose second
	// stride is 1 and whose first is positive.
	Axes   int
	Shape  [2]int
	Stride [2]int

	Move int // of CallEach: how many bytes Data is after that of the problem before; 0 if all share it
	// Zero is of CallEach: the operand, which has no gaps, is set to zero before the pass of each problem. After
	// an error it may be zero in any problem.
	Zero bool

	// Ptr and Ind are the structure of a sparse matrix, and Data are its entries. Row i
	// has the entries from Ptr[i] to Ptr[i+1]-1, and entry p is in column Ind[p].
	Sparse   bool
	Ptr, Ind []int
}

func (b *Buffer) leftOut() bool { return b.Data == nil && b.Axes == 0 }

// element is the constraint of elements of buffers.
type element interface {
	float64 | float32 | fixed.Q43 | complex128 | int
}

func typeFor[T element]() Type {
	t, _ := typeOf(reflect.TypeFor[T]())
	return t
}

// Scalar returns the buffer of a number.
func Scalar[T element](x *T) Buffer {
	return Buffer{Data: unsafe.Pointer(x), Len: 1, Type: typeFor[T]()}
}

// Slice returns the buffer of a slice, as a vector.
func Slice[T element](x []T) Buffer { return Vector(rev.ViewSlice(x)) }

// Vector returns the buffer of a vector.
func Vector[T element](x rev.Vector[T]) Buffer {
	return Buffer{
		Data: unsafe.Pointer(unsafe.SliceData(x.Data)), Len: len(x.Data), Type: typeFor[T](),
		Axes: 1, Shape: [2]int{x.N}, Stride: [2]int{x.Inc},
	}
}

// Matrix returns the buffer of a matrix.
func Matrix[T element](x rev.General[T]) Buffer {
	return Buffer{
		Data: unsafe.Pointer(unsafe.SliceData(x.Data)), Len: len(x.Data), Type: typeFor[T](),
		Axes: 2, Shape: [2]int{x.Rows, x.Cols}, Stride: [2]int{x.Stride, 1},
	}
}

// CSR returns the buffer of a sparse matrix.
func CSR[T element](x revsparse.CSR[T, int]) Buffer {
	return Buffer{
		Data: unsafe.Pointer(unsafe.SliceData(x.Data)), Len: len(x.Data), Type: typeFor[T](),
		Axes: 2, Shape: [2]int{x.Rows, x.Cols}, Sparse: true, Ptr: x.Ptr, Ind: x.Ind,
	}
}

// Elements returns the elements of b in its memory, with the gaps between them. It panics
// with an *OperandError of package rev unless T is the type of the elements.
func Elements[T element](b Buffer) []T {
	if t := typeFor[T](); b.Data != nil && t != b.Type {
		panic(&rev.OperandError{Kernel: "rules.Elements", Operand: "b", Reason: fmt.Sprintf("has elements of %v, want %v", b.Type, t), Err: ErrArgument})
	}
	return unsafe.Slice((*T)(b.Data), b.Len)
}

// size returns the number of elements, without gaps.
func (b *Buffer) size() int {
	switch {
	case b.Sparse:
		return b.Len
	case b.Axes == 0:
		return 1
	case b.Axes == 1:
		return b.Shape[0]
	}
	return b.Shape[0] * b.Shape[1]
}

// dense returns zeros with the shape of b, in memory of their own without gaps. The
// structure of a sparse matrix is shared.
func (b *Buffer) dense() Buffer {
	d := *b
	if b.Sparse {
		d.Len = len(b.Ind)
	} else {
		d.Len = d.size()
	}
	switch b.Axes {
	case 1:
		d.Stride = [2]int{1}
	case 2:
		d.Stride = [2]int{max(1, b.Shape[1]), 1}
	}
	// Allocate a byte at least, so that there is an address.
	d.Data = reflect.MakeSlice(reflect.SliceOf(types[b.Type].typ), max(1, d.Len), max(1, d.Len)).UnsafePointer()
	return d
}

// check reports what is wrong with the shape of a vector or a dense matrix.
func (b *Buffer) check() error {
	rows, cols := 1, 1
	if b.Axes > 0 {
		rows = b.Shape[0]
	}
	if b.Axes > 1 {
		cols = b.Shape[1]
	}
	switch {
	case b.Type < Float64 || b.Type > Int:
		return fmt.Errorf("has elements of %v", b.Type)
	case b.Axes < 0 || b.Axes > 2 || rows < 0 || cols < 0:
		return fmt.Errorf("has %d axes of lengths %d", b.Axes, b.Shape)
	case b.Sparse || rows == 0 || cols == 0:
		return nil
	case cols > b.Len || cols > 1 && b.Stride[1] != 1 || rows > 1 && (b.Stride[0] < 1 || rows-1 > (b.Len-cols)/b.Stride[0]):
		return fmt.Errorf("has lengths %d and strides %d in memory for %d elements", b.Shape[:b.Axes], b.Stride[:b.Axes], b.Len)
	}
	return nil
}

// clone returns a copy of b without gaps. b must have been checked.
func (b *Buffer) clone() Buffer {
	d := b.dense()
	if d.Len == 0 {
		return d
	}
	rows, cols := 1, d.Len
	if b.Axes == 1 {
		rows, cols = b.Shape[0], 1
	} else if b.Axes == 2 && !b.Sparse {
		rows, cols = b.Shape[0], b.Shape[1]
	}
	size := b.Type.size()
	for i := range rows {
		from := unsafe.Slice((*byte)(unsafe.Add(b.Data, uintptr(i*b.Stride[0])*size)), uintptr(cols)*size)
		copy(unsafe.Slice((*byte)(unsafe.Add(d.Data, uintptr(i*d.Stride[0])*size)), len(from)), from)
	}
	return d
}
