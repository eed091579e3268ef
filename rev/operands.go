package rev

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"revnum/internal/bytype"
)

// Role says what a kernel does with an operand. It comes from the rev tag.
type Role uint8

// The roles of operands.
const (
	In    Role = iota // rev:"in", read, never written
	Acc               // rev:"acc", added into, not read otherwise
	InOut             // rev:"inout", transformed in place
	Index             // rev:"index", structure: read, has no gradient
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
	Sparse             // a struct with the fields of revsparse.CSR; its Data is the operand
)

var kindNames = [...]string{Scalar: "scalar", Slice: "slice", Vec: "vector", Gen: "matrix", Sparse: "sparse matrix"}

// String returns "scalar", "slice", "vector", "matrix" or "sparse matrix".
func (k Kind) String() string { return kindNames[k] }

// axes returns the number of dimensions that a shape tag has.
func (k Kind) axes() int { return [...]int{Scalar: 0, Slice: 1, Vec: 1, Gen: 2, Sparse: 2}[k] }

// Operand describes an operand of a kernel.
type Operand struct {
	Name  string // name of the field
	Role  Role
	Kind  Kind
	Field int          // index of the field in the struct
	Elem  reflect.Type // type of the elements
	Shape string       // the shape tag, as in "m,n"

	// Optional reports whether the operand may be nil in a kernel: it is an acc
	// operand, or its tag is rev:"in,optional".
	Optional bool
}

// Operands returns the operands of the kernel type K, a struct, in the order of its
// fields. It panics if a tag is none of those that [Kernel] lists, or if the type of
// a tagged field cannot hold an operand.
func Operands[K any]() []Operand {
	return OperandsOf(pointee((*K)(nil)))
}

// OperandsOf is [Operands] for a kernel type that is known only when the program runs.
func OperandsOf(kernel reflect.Type) []Operand { return layoutOf(kernel).operands() }

// operands returns the operands in the order of the fields.
func (l *layout) operands() []Operand {
	ops := make([]Operand, len(l.fields))
	for i, f := range l.fields {
		ops[i] = f.Operand
	}
	return ops
}

// maxOperands bounds the operands of a kernel, so that their regions fit on
// the stack.
const maxOperands = 32

// A layout says where the operands of a kernel type lie in its struct.
type layout struct {
	kernel    reflect.Type
	fields    []field
	symbols   []string   // names in shape tags
	equations []equation // of the shape tags
	optional  uint64     // the set of the operands that may be nil
	shaped    uint64     // the set of the operands whose dimensions a tag says
	inPlace   bool       // whether an operand is inout
	plain
}

type field struct {
	offset uintptr // of the field
	data   uintptr // of the pointer to the elements
	size   uintptr // of an element
	Operand
}

var layouts bytype.Map[layout]

func layoutOf(t reflect.Type) *layout {
	if l := layouts.Load(t); l != nil {
		return l
	}
	return layouts.LoadOrStore(t, newLayout(t))
}

var layoutsAt bytype.Map[layout] // by types of pointers, whose Elem takes 3 ns

// layoutAt returns the layout of the kernels that k, which may be nil, would point to.
func layoutAt(k any) *layout {
	t := reflect.TypeOf(k)
	if l := layoutsAt.Load(t); l != nil {
		return l
	}
	return layoutsAt.LoadOrStore(t, layoutOf(t.Elem()))
}

func newLayout(t reflect.Type) *layout {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("rev: kernel %v is not a struct", t))
	}
	l := &layout{kernel: t}
	parser := shapeParser{kernel: t}
	for i := range t.NumField() {
		f := t.Field(i)
		o, ok, err := operandOf(f)
		if !ok && err == nil {
			continue
		}
		o.Field = i
		if err == nil && o.Shape != "" {
			err = parser.parse(o, f.Offset, len(l.fields))
		}
		if err != nil {
			panic(fmt.Sprintf("rev: field %s of %v: %v", f.Name, t, err))
		}
		data := f.Offset + [...]uintptr{
			Vec:    unsafe.Offsetof(Vector[byte]{}.Data),
			Gen:    unsafe.Offsetof(General[byte]{}.Data),
			Sparse: unsafe.Offsetof(sparse{}.Data),
		}[o.Kind]
		if o.Optional {
			l.optional |= 1 << len(l.fields)
		}
		if o.Shape != "" {
			l.shaped |= 1 << len(l.fields)
		}
		l.fields = append(l.fields, field{f.Offset, data, o.Elem.Size(), o})
		l.inPlace = l.inPlace || o.Role == InOut
	}
	if n := len(l.fields); n == 0 || n > maxOperands {
		panic(fmt.Sprintf("rev: kernel %v has %d operands, want 1 to %d", t, n, maxOperands))
	}
	l.symbols = parser.symbols
	l.equations = parser.ordered(l.fields)
	l.plain = newPlain(l)
	return l
}

// operandOf returns the operand that a field of a kernel holds. ok reports whether the
// field holds one.
func operandOf(f reflect.StructField) (o Operand, ok bool, err error) {
	tag, tagged := f.Tag.Lookup("rev")
	role, optional := strings.CutSuffix(tag, ",optional")
	o = Operand{Name: f.Name, Shape: f.Tag.Get("shape")}
	o.Kind, o.Elem, ok = kindOf(f.Type)
	if !tagged && o.Shape == "" && !strings.Contains(string(f.Tag), "rev:") && (!ok || !f.IsExported()) {
		return o, false, nil
	}
	var known bool
	o.Role, known = roleOf(role)
	o.Optional = optional || o.Role == Acc
	switch {
	case !known || !f.IsExported():
		return o, false, fmt.Errorf("want an exported field with a tag rev:%q, %q, %q or %q, found %s %v `%s`", In, Acc, InOut, Index, f.Name, f.Type, f.Tag)
	case !ok:
		return o, false, fmt.Errorf("%v cannot hold an operand, want *T, []T, Vector[T], General[T] or a sparse matrix", f.Type)
	case o.Role == Index && !isInteger(o.Elem):
		return o, false, fmt.Errorf("an index of type %v, want integers", f.Type)
	}
	return o, true, nil
}

// fieldOf returns the field of the struct t with the given name and kind.
func fieldOf(t reflect.Type, name string, kind reflect.Kind) (reflect.StructField, bool) {
	f, ok := t.FieldByName(name)
	return f, ok && f.Type.Kind() == kind && len(f.Index) == 1
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

// sameFields reports whether t has the fields of view. The element type of Data may
// differ.
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

// isNumber reports whether t is a type of numbers. Structs of numbers count too:
// number types of more than one word are such structs.
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
