package rev

import (
	"fmt"
	"reflect"
	"unsafe"

	"revnum/fixed"
	"revnum/internal/bytype"
)

// constants are the fields of a state with the tag rev:"const". They are numbers
// whose tangents no kernel reads, such as the α of an Axpy.
type constants struct {
	state  reflect.Type
	fields []constant
}

type constant struct {
	name   string
	offset uintptr
	typ    reflect.Type
}

var constantsByType bytype.Map[constants]

func constantsOf(t reflect.Type) *constants {
	if c := constantsByType.Load(t); c != nil {
		return c
	}
	c := &constants{state: t}
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get("rev") == "const" {
				c.fields = append(c.fields, constant{f.Name, f.Offset, f.Type})
			}
		}
	}
	return constantsByType.LoadOrStore(t, c)
}

// check returns an error if a constant has a tangent other than zero in the state of
// tangents t.
func (c *constants) check(t unsafe.Pointer) error {
	for _, f := range c.fields {
		if !isZero(reflect.NewAt(f.typ, unsafe.Add(t, f.offset)).Elem()) {
			return fmt.Errorf("rev: the tangent of %s of %v is not zero, but %[1]s is a constant", f.name, c.state)
		}
	}
	return nil
}

// isZero reports whether all numbers in v are zero.
func isZero(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if !isZero(v.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !isZero(v.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || isZero(v.Elem())
	case reflect.Float32, reflect.Float64:
		return v.Float() == 0
	case reflect.Complex64, reflect.Complex128:
		return v.Complex() == 0
	case reflect.Int64:
		return v.Type() != reflect.TypeFor[fixed.Q43]() || v.Int() == 0
	}
	return true
}
