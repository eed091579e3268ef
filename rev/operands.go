package rev

import (
	"errors"
	"fmt"
	"math/bits"
	"reflect"
	"sync"
	"unsafe"

	"gonum.org/v1/gonum/mat"
)

// Role is what a kernel does with an operand, as its rev tag says.
type Role uint8

// The roles of operands.
const (
	In    Role = iota // rev:"in", read, never written
	Acc               // rev:"acc", added into, not looked at otherwise
	InOut             // rev:"inout", transformed in place
	Index             // rev:"index", structure: read, without gradient
)

var roleNames = [...]string{In: "in", Acc: "acc", InOut: "inout", Index: "index"}

// String returns the role as the tag spells it.
func (r Role) String() string { return roleNames[r] }

func (r Role) readOnly() bool { return r == In || r == Index }

// Kind is the form of the field that holds an operand.
type Kind uint8

// The kinds of operands.
const (
	Scalar Kind = iota // *T
	Slice              // []T
	Vec                // Vector[T], or another struct with its fields
	Gen                // General[T], or another struct with its fields
	Sparse             // a struct with the fields of revsparse.CSR, of which Data is the operand
)

var kindNames = [...]string{Scalar: "scalar", Slice: "slice", Vec: "vector", Gen: "matrix", Sparse: "sparse matrix"}

// String returns "scalar", "slice", "vector", "matrix" or "sparse matrix".
func (k Kind) String() string { return kindNames[k] }

// Operand describes an operand of a kernel.
type Operand struct {
	Name  string // name of the field
	Role  Role
	Kind  Kind
	Field int          // index of the field in the struct
	Elem  reflect.Type // type of the elements
}

// ErrOverlap is wrapped by the errors that Check and CheckLike panic with when
// operands overlap that must not.
var ErrOverlap = errors.New("rev: operands overlap")

// Operands returns the operands of the kernel type K, a struct or a pointer to
// one, in the order of its fields. It panics if a tag is none of those that
// Kernel lists, or if the tagged field is of a type that holds no operand.
func Operands[K any]() []Operand {
	l := layoutOf(structOf(reflect.TypeFor[K]()))
	ops := make([]Operand, len(l.fields))
	for i, f := range l.fields {
		ops[i] = f.Operand
	}
	return ops
}

// Check panics unless the operands of k are well formed. It is meant for the
// first line of a kernel's methods, and does not allocate. The panics are
//
//   - mat.ErrNegativeDimension for a negative N, Rows or Cols,
//   - mat.ErrIllegalStride for Inc < 1 or Stride < max(1, Cols),
//   - mat.ErrShape if Data is too short for the view,
//   - an error that wraps ErrOverlap if two operands share an element, unless
//     both are only read.
//
// Disjoint blocks of one matrix share no element, nor do disjoint columns; as
// in gonum's mat, views of more than one row whose strides differ are taken to
// share one if the ranges of memory that they span overlap. A view without
// elements needs no stride and no Data, and overlaps nothing. Of a sparse matrix
// only Data is looked at, which must not be shorter than Ind. The Data of an acc
// operand may be nil, which stands for no operand at all. Check accepts a nil
// scalar; a kernel that needs it will meet the nil pointer.
func Check[K any](k *K) {
	l := layoutOf(reflect.TypeFor[K]())
	var r regions
	l.load(&r, unsafe.Pointer(k))
	for i := range l.fields {
		a := &l.fields[i]
		if r[i].data == nil && !r[i].empty() && a.Role != Acc {
			panic(mat.ErrShape)
		}
		for j := range l.fields[:i] {
			b := &l.fields[j]
			if a.Role.readOnly() && b.Role.readOnly() {
				continue
			}
			if overlap(&r[i], &r[j]) {
				l.panicOverlap(j, i)
			}
		}
	}
}

// CheckLike panics unless the operands of each g are well formed as
// cotangents or tangents of those of k, which Check has passed. It does not
// allocate. Index operands, and operands of g that are nil, are not looked at.
// The panics are those of Check, and
//
//   - mat.ErrShape if an operand has not the shape of its counterpart in k (if
//     that is an acc operand left out altogether, any shape will do),
//   - an error that wraps ErrOverlap if an operand shares an element with an
//     operand of k, of another g, or with another one of the same g.
//
// As an exception to the last, operands of g may be the same view where their
// counterparts in k are the same view and only read: the cotangent of x in
// Dot{X: x, Y: x} is the sum of what X and Y add to it.
func CheckLike[K any](k *K, g ...*K) {
	l := layoutOf(reflect.TypeFor[K]())
	var rk, rg regions
	l.load(&rk, unsafe.Pointer(k))
	for n := range g {
		l.load(&rg, unsafe.Pointer(g[n]))
		l.checkLike(&rk, &rg)
		for _, h := range g[:n] {
			var rh regions
			l.load(&rh, unsafe.Pointer(h))
			l.checkDisjoint(&rh, &rg)
		}
	}
}

func (l *layout) checkLike(k, g *regions) {
	for i := range l.fields {
		role := l.fields[i].Role
		if role == Index || g[i].data == nil {
			continue
		}
		absent := role == Acc && k[i].data == nil && k[i].empty()
		if !absent && (g[i].rows != k[i].rows || g[i].cols != k[i].cols) {
			panic(mat.ErrShape)
		}
		for j := range l.fields[:i] {
			if l.fields[j].Role == Index || !overlap(&g[i], &g[j]) {
				continue
			}
			same := g[i] == g[j] && k[i] == k[j]
			if !same || role != In || l.fields[j].Role != In {
				l.panicOverlap(j, i)
			}
		}
	}
	l.checkDisjoint(k, g)
}

// checkDisjoint panics if an operand of g other than an index overlaps any
// operand of k.
func (l *layout) checkDisjoint(k, g *regions) {
	for i := range l.fields {
		if l.fields[i].Role == Index {
			continue
		}
		for j := range l.fields {
			if overlap(&g[i], &k[j]) {
				l.panicOverlap(j, i)
			}
		}
	}
}

func (l *layout) panicOverlap(i, j int) {
	panic(fmt.Errorf("%w: %s and %s of %v", ErrOverlap, l.fields[i].Name, l.fields[j].Name, l.kernel))
}

// maxOperands bounds the operands of a kernel, so that their regions fit on
// the stack.
const maxOperands = 16

// A layout says where the operands of a kernel type lie in its struct.
type layout struct {
	kernel reflect.Type
	fields []field
}

type field struct {
	Operand
	offset uintptr
	size   uintptr // of an element
}

var layouts sync.Map // from reflect.Type to *layout

func layoutOf(t reflect.Type) *layout {
	if l, ok := layouts.Load(t); ok {
		return l.(*layout)
	}
	l, _ := layouts.LoadOrStore(t, newLayout(t))
	return l.(*layout)
}

func structOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func newLayout(t reflect.Type) *layout {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("rev: kernel %v is not a struct", t))
	}
	l := &layout{kernel: t}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("rev")
		if !ok {
			continue
		}
		o := Operand{Name: f.Name, Field: i}
		o.Role, ok = roleOf(tag)
		if !ok {
			panic(fmt.Sprintf("rev: %v.%s has the tag rev:%q, want in, acc, inout or index", t, f.Name, tag))
		}
		o.Kind, o.Elem, ok = kindOf(f.Type)
		if !ok {
			panic(fmt.Sprintf("rev: %v.%s of type %v cannot hold an operand, want *T, []T, Vector[T], General[T] or a sparse matrix", t, f.Name, f.Type))
		}
		if o.Role == Index && !isInteger(o.Elem) {
			panic(fmt.Sprintf("rev: %v.%s is an index of type %v, want integers", t, f.Name, f.Type))
		}
		l.fields = append(l.fields, field{o, f.Offset, o.Elem.Size()})
	}
	if len(l.fields) > maxOperands {
		panic(fmt.Sprintf("rev: kernel %v has more than %d operands", t, maxOperands))
	}
	return l
}

func roleOf(tag string) (Role, bool) {
	for r, name := range roleNames {
		if tag == name {
			return Role(r), true
		}
	}
	return 0, false
}

func kindOf(t reflect.Type) (Kind, reflect.Type, bool) {
	switch t.Kind() {
	case reflect.Pointer:
		return Scalar, t.Elem(), isNumber(t.Elem())
	case reflect.Slice:
		return Slice, t.Elem(), isNumber(t.Elem())
	case reflect.Struct:
		if sameFields(t, reflect.TypeFor[Vector[byte]]()) {
			elem := t.Field(1).Type.Elem()
			return Vec, elem, isNumber(elem)
		}
		if sameFields(t, reflect.TypeFor[General[byte]]()) {
			elem := t.Field(2).Type.Elem()
			return Gen, elem, isNumber(elem)
		}
		if sameFields(t, reflect.TypeFor[sparse]()) {
			elem := t.Field(4).Type.Elem()
			return Sparse, elem, isNumber(elem) && isInteger(t.Field(2).Type.Elem())
		}
	}
	return 0, nil, false
}

// sparse has the fields of a sparse matrix stored by rows.
type sparse struct {
	Rows, Cols     int
	Ptr, Ind, Data []byte
}

// sameFields reports whether t has the fields of view but for the element
// type of Data.
func sameFields(t, view reflect.Type) bool {
	if t.NumField() != view.NumField() {
		return false
	}
	for i := range view.NumField() {
		f, v := t.Field(i), view.Field(i)
		if f.Name != v.Name || f.Type.Kind() != v.Type.Kind() {
			return false
		}
	}
	return true
}

func isInteger(t reflect.Type) bool {
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Uintptr
}

// isNumber also accepts structs of numbers, which have number types in them
// that keep more than one word.
func isNumber(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return t.Kind() >= reflect.Int && t.Kind() <= reflect.Complex128
	}
	for i := range t.NumField() {
		if !isNumber(t.Field(i).Type) {
			return false
		}
	}
	return t.NumField() > 0
}

// A region is the memory of an operand: element (i, j) of rows×cols elements
// of the given size is i*stride+j elements after data. The region of a nil
// scalar is empty.
type region struct {
	data               unsafe.Pointer
	rows, cols, stride int
	size               uintptr
}

type regions [maxOperands]region

func (r *region) empty() bool { return r.rows == 0 || r.cols == 0 }

// span returns the number of elements from the first to the last one.
func (r *region) span() int { return (r.rows-1)*r.stride + r.cols }

// load sets r to the regions of the operands of the kernel at k, and panics if
// one is malformed. The headers of slices and views do not depend on the
// element type, so they are read as those of bytes.
func (l *layout) load(r *regions, k unsafe.Pointer) {
	for i := range l.fields {
		f := &l.fields[i]
		p := unsafe.Add(k, f.offset)
		r := &r[i]
		r.size = f.size
		switch f.Kind {
		case Scalar:
			r.data = *(*unsafe.Pointer)(p)
			r.rows, r.cols, r.stride = 1, 1, 1
			if r.data == nil {
				r.rows = 0
			}
		case Slice:
			s := *(*[]byte)(p)
			r.view(s, len(s), 1, 1)
		case Vec:
			v := (*Vector[byte])(p)
			r.view(v.Data, v.N, 1, v.Inc)
		case Gen:
			m := (*General[byte])(p)
			r.view(m.Data, m.Rows, m.Cols, m.Stride)
		case Sparse:
			m := (*sparse)(p)
			r.view(m.Data, max(len(m.Data), len(m.Ind)), 1, 1)
		}
	}
}

// view sets r to a view of data, and panics if there is none.
func (r *region) view(data []byte, rows, cols, stride int) {
	if rows < 0 || cols < 0 {
		panic(mat.ErrNegativeDimension)
	}
	r.data = unsafe.Pointer(unsafe.SliceData(data))
	r.rows, r.cols, r.stride = rows, cols, stride
	if data == nil || r.empty() {
		return
	}
	if stride < max(1, cols) {
		panic(mat.ErrIllegalStride)
	}
	// The product may not fit an int.
	hi, lo := bits.Mul(uint(rows-1), uint(stride))
	if hi != 0 || len(data) < cols || lo > uint(len(data)-cols) {
		panic(mat.ErrShape)
	}
}

// overlap reports whether a and b share an element.
func overlap(a, b *region) bool {
	if a.data == nil || b.data == nil || a.empty() || b.empty() {
		return false
	}
	pa, pb := uintptr(a.data), uintptr(b.data)
	if pa > pb {
		a, b, pa, pb = b, a, pb, pa
	}
	if pb-pa >= uintptr(a.span())*a.size {
		return false
	}
	// The first element of b lies in the span of a.
	if a.size != b.size || (pb-pa)%a.size != 0 {
		return true
	}
	off := int((pb - pa) / a.size)
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
	// All its rows begin in gaps of a. They reach over the gap if they are long
	// enough, and the first one then meets row i+1 of a if there is one.
	return j+row > a.stride && i+1 < a.rows
}
