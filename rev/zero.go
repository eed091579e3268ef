package rev

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"revnum/fixed"
)

// ZeroLike returns a state of the shapes of s with all numbers zero, for
// cotangents or tangents. Numbers are floating, complex and fixed point, and
// structs and arrays of them. Slices, views and gonum matrices of numbers get
// storage of their own; those that share storage in s do so in the result.
// Everything else is structure: integers, strings and flags are copied, slices of
// them, maps, functions and channels are shared.
func ZeroLike[S any](s *S) *S {
	var z zeroer
	z.walk(reflect.ValueOf(new(S)).Elem(), reflect.ValueOf(s).Elem())
	z.allocate()
	d := new(S)
	z.walk(reflect.ValueOf(d).Elem(), reflect.ValueOf(s).Elem())
	return d
}

// A zeroer copies the structure of a state, in two walks: the first finds the
// storage of its numbers, and the second puts zeros in its place.
type zeroer struct {
	spans   []zeroSpan
	ready   bool
	visited map[visit]reflect.Value // what pointers to structs become in this walk
}

// A zeroSpan is memory of a state, and what stands for it.
type zeroSpan struct {
	lo, hi uintptr
	elem   reflect.Type
	to     unsafe.Pointer
}

type visit struct {
	p unsafe.Pointer
	t reflect.Type
}

// allocate makes storage for each run of memory that spans share.
func (z *zeroer) allocate() {
	slices.SortFunc(z.spans, func(a, b zeroSpan) int {
		if a.lo != b.lo {
			return int(int64(a.lo) - int64(b.lo))
		}
		return int(int64(b.hi) - int64(a.hi))
	})
	var merged []zeroSpan
	for _, s := range z.spans {
		last := len(merged) - 1
		if last < 0 || s.lo >= merged[last].hi {
			merged = append(merged, s)
			continue
		}
		if s.elem != merged[last].elem {
			panic(fmt.Sprintf("rev: ZeroLike: %v and %v share storage", s.elem, merged[last].elem))
		}
		merged[last].hi = max(merged[last].hi, s.hi)
	}
	for i := range merged {
		s := &merged[i]
		n := int((s.hi - s.lo) / s.elem.Size())
		s.to = reflect.MakeSlice(reflect.SliceOf(s.elem), n, n).UnsafePointer()
	}
	z.spans, z.ready, z.visited = merged, true, nil
}

// storage returns what stands for n elements at p, nil in the first walk.
func (z *zeroer) storage(p unsafe.Pointer, n int, elem reflect.Type) unsafe.Pointer {
	lo := uintptr(p)
	if !z.ready {
		z.spans = append(z.spans, zeroSpan{lo: lo, hi: lo + uintptr(n)*elem.Size(), elem: elem})
		return nil
	}
	i, _ := slices.BinarySearchFunc(z.spans, lo, func(s zeroSpan, lo uintptr) int {
		if s.hi <= lo {
			return -1
		}
		if s.lo > lo {
			return 1
		}
		return 0
	})
	return unsafe.Add(z.spans[i].to, lo-z.spans[i].lo)
}

// walk sets d to what stands for s. Both are addressable.
func (z *zeroer) walk(d, s reflect.Value) {
	t := s.Type()
	switch {
	case isNumberType(t):
		return // zero
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			z.walk(exported(d.Field(i)), exported(s.Field(i)))
		}
	case t.Kind() == reflect.Array:
		for i := range t.Len() {
			z.walk(d.Index(i), s.Index(i))
		}
	case t.Kind() == reflect.Pointer && !s.IsNil():
		z.pointer(d, s)
	case t.Kind() == reflect.Slice && !s.IsNil():
		z.slice(d, s)
	case t.Kind() == reflect.Interface && !s.IsNil() && s.Elem().Kind() == reflect.Pointer:
		p := reflect.New(s.Elem().Type()).Elem()
		p.Set(s.Elem())
		q := reflect.New(p.Type()).Elem()
		z.walk(q, p)
		d.Set(q)
	default:
		d.Set(s)
	}
}

func (z *zeroer) pointer(d, s reflect.Value) {
	elem := s.Type().Elem()
	switch {
	case isNumberType(elem):
		if p := z.storage(s.UnsafePointer(), 1, elem); p != nil {
			d.Set(reflect.NewAt(elem, p).Convert(d.Type()))
		}
	case elem.Kind() == reflect.Struct:
		key := visit{s.UnsafePointer(), elem}
		p, ok := z.visited[key]
		if !ok {
			if z.visited == nil {
				z.visited = map[visit]reflect.Value{}
			}
			p = reflect.New(elem)
			z.visited[key] = p
			z.walk(p.Elem(), s.Elem())
		}
		d.Set(p.Convert(d.Type()))
	default:
		d.Set(s)
	}
}

func (z *zeroer) slice(d, s reflect.Value) {
	elem := s.Type().Elem()
	switch kind := elem.Kind(); {
	case s.Len() == 0:
		d.Set(reflect.MakeSlice(s.Type(), 0, 0))
	case isNumberType(elem):
		if p := z.storage(s.UnsafePointer(), s.Len(), elem); p != nil {
			*(*sliceHeader)(d.Addr().UnsafePointer()) = sliceHeader{p, s.Len(), s.Len()}
		}
	case kind == reflect.Struct || kind == reflect.Pointer || kind == reflect.Slice || kind == reflect.Array || kind == reflect.Interface:
		d.Set(reflect.MakeSlice(s.Type(), s.Len(), s.Len()))
		for i := range s.Len() {
			z.walk(d.Index(i), s.Index(i))
		}
	default:
		d.Set(s)
	}
}

// exported returns the addressable field f so that it may be read and set.
func exported(f reflect.Value) reflect.Value {
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
}

// isNumberType reports whether values of type t are numbers, which have
// derivatives, or structs or arrays of nothing else.
func isNumberType(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return true
	case reflect.Array:
		return isNumberType(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !isNumberType(t.Field(i).Type) {
				return false
			}
		}
		return t.NumField() > 0
	}
	return t == reflect.TypeFor[fixed.Q43]()
}
