package rev

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"revnum/fixed"
	"revnum/internal/bytype"
)

// ZeroLike returns a state with the shapes of s and all numbers zero. Use it for
// cotangents and tangents. Numbers are floating, complex and fixed point, and structs
// and arrays of them. Slices, pointers, maps, views and gonum's types in the result have
// storage of their own. Where they share storage in s, they share it in the result.
//
// Everything else is structure. Integers, strings and flags are copied. The result
// shares slices and maps of them, functions and channels with s.
func ZeroLike[S any](s *S) *S { return new(Zeros[S]).Like(s) }

// Zeros makes states as [ZeroLike] does, but uses the memory again if it can. The zero
// value is ready to use.
type Zeros[S any] struct {
	_     [0]*S // no conversion to those of other states
	zeros zeros
}

// zeros is what Zeros does for states of any type.
type zeros struct {
	found  []zeroBlock // the blocks of the last state, before they were joined
	joined []zeroBlock
	z      zeroer
	state  unsafe.Pointer
}

// Like returns what ZeroLike(s) returns. If the slices and pointers in s lead to the same
// memory as in the last call, it clears the state that it returned then, returns it again,
// and allocates nothing. (States with interfaces or maps always allocate.)
func (m *Zeros[S]) Like(s *S) *S {
	return (*S)(m.zeros.like(unsafe.Pointer(s), pointee((*S)(nil))))
}

func (m *zeros) like(s unsafe.Pointer, state reflect.Type) unsafe.Pointer {
	clear(m.z.seen)
	m.z.blocks = m.z.blocks[:0]
	clear(m.z.maps)
	m.z.add(s, 1, state)
	if len(m.z.maps) > 0 { // which come in another order each time
		slices.SortFunc(m.z.blocks, zeroBlock.compare)
	}
	if m.state != nil && slices.Equal(m.z.blocks, m.found) {
		m.z.blocks, m.joined = m.joined, m.z.blocks
		m.z.clear()
	} else {
		m.found, m.state = slices.Clone(m.z.blocks), nil // no state if allocate panics
		m.z.allocate()
		m.state = m.z.at(s)
	}
	m.z.fillAll()
	m.z.blocks, m.joined = m.joined, m.z.blocks
	return m.state
}

// A zeroer holds the memory of a state for which the result gets storage of its own.
type zeroer struct {
	blocks []zeroBlock
	seen   map[zeroBlock]bool
	maps   map[unsafe.Pointer]reflect.Value // from each map of the state to that of the result
}

// A zeroBlock is a run of elements of a state, and the memory of the result that
// stands for them.
type zeroBlock struct {
	from, to unsafe.Pointer
	bytes    uintptr
	elem     reflect.Type
}

// compare puts blocks in the order of their addresses, and the largest of an address first.
func (b zeroBlock) compare(c zeroBlock) int {
	return cmp.Or(cmp.Compare(b.lo(), c.lo()), cmp.Compare(c.hi(), b.hi()))
}

func (b *zeroBlock) lo() uintptr { return uintptr(b.from) }
func (b *zeroBlock) hi() uintptr { return uintptr(b.from) + b.bytes }
func (b *zeroBlock) len() int    { return int(b.bytes / max(1, b.elem.Size())) }

// add adds n elements at p, and all elements that they lead to.
func (z *zeroer) add(p unsafe.Pointer, n int, elem reflect.Type) {
	b := zeroBlock{from: p, bytes: uintptr(n) * elem.Size(), elem: elem}
	if z.seen[b] {
		return
	}
	if z.seen == nil {
		z.seen = map[zeroBlock]bool{}
	}
	z.seen[b] = true
	z.blocks = append(z.blocks, b)
	if isNumberType(elem) {
		return
	}
	for i := range n {
		z.scan(reflect.NewAt(elem, unsafe.Add(p, uintptr(i)*elem.Size())).Elem())
	}
}

// scan adds the elements that the addressable value v leads to.
func (z *zeroer) scan(v reflect.Value) {
	t := v.Type()
	switch kind := t.Kind(); {
	case isNumberType(t):
	case kind == reflect.Struct:
		for i := range t.NumField() {
			z.scan(exported(v.Field(i)))
		}
	case kind == reflect.Array:
		for i := range t.Len() {
			z.scan(v.Index(i))
		}
	case kind == reflect.Pointer && !v.IsNil() && hasStorage(t.Elem()):
		z.add(v.UnsafePointer(), 1, t.Elem())
	case kind == reflect.Slice && v.Len() > 0 && hasStorage(t.Elem()):
		z.add(v.UnsafePointer(), v.Len(), t.Elem())
	case kind == reflect.Interface && !v.IsNil():
		z.scan(addressable(v.Elem()))
	case kind == reflect.Map && !v.IsNil() && hasStorage(t.Elem()):
		if _, ok := z.maps[v.UnsafePointer()]; ok {
			return
		}
		if z.maps == nil {
			z.maps = map[unsafe.Pointer]reflect.Value{}
		}
		z.maps[v.UnsafePointer()] = reflect.Value{}
		for entry := v.MapRange(); entry.Next(); {
			z.scan(addressable(entry.Value()))
		}
	}
}

// allocate joins blocks that share memory and makes storage for them.
func (z *zeroer) allocate() {
	slices.SortFunc(z.blocks, zeroBlock.compare)
	joined := z.blocks[:1]
	for _, b := range z.blocks[1:] {
		last := &joined[len(joined)-1]
		switch {
		case b.lo() >= last.hi():
			joined = append(joined, b)
		case b.hi() <= last.hi(): // a part of it
		case b.elem == last.elem && (b.lo()-last.lo())%b.elem.Size() == 0:
			last.bytes = b.hi() - last.lo()
		default:
			panic(fmt.Sprintf("rev: ZeroLike: a %v and a %v share storage", b.elem, last.elem))
		}
	}
	for i := range joined {
		b := &joined[i]
		b.to = reflect.MakeSlice(reflect.SliceOf(b.elem), b.len(), b.len()).UnsafePointer()
	}
	z.blocks = joined
}

// clear sets the storage to zero.
func (z *zeroer) clear() {
	for i := range z.blocks {
		b := &z.blocks[i]
		if isNumberType(b.elem) {
			clear(unsafe.Slice((*byte)(b.to), b.bytes))
			continue
		}
		for i := range b.len() {
			reflect.NewAt(b.elem, unsafe.Add(b.to, uintptr(i)*b.elem.Size())).Elem().SetZero()
		}
	}
}

// fillAll fills the storage that is not numbers alone.
func (z *zeroer) fillAll() {
	for i := range z.blocks {
		b := &z.blocks[i]
		if isNumberType(b.elem) {
			continue
		}
		for i := range b.len() {
			at := uintptr(i) * b.elem.Size()
			z.fill(reflect.NewAt(b.elem, unsafe.Add(b.to, at)).Elem(), reflect.NewAt(b.elem, unsafe.Add(b.from, at)).Elem())
		}
	}
}

// at returns the address in the result that stands for p.
func (z *zeroer) at(p unsafe.Pointer) unsafe.Pointer {
	i, ok := slices.BinarySearchFunc(z.blocks, uintptr(p), func(b zeroBlock, p uintptr) int { return cmp.Compare(b.lo(), p) })
	if !ok {
		i--
	}
	b := &z.blocks[i]
	return unsafe.Add(b.to, uintptr(p)-b.lo())
}

// fill sets the addressable value d, which is zero, to the value that stands for v.
func (z *zeroer) fill(d, v reflect.Value) {
	t := v.Type()
	switch kind := t.Kind(); {
	case isNumberType(t):
	case kind == reflect.Struct:
		for i := range t.NumField() {
			z.fill(exported(d.Field(i)), exported(v.Field(i)))
		}
	case kind == reflect.Array:
		for i := range t.Len() {
			z.fill(d.Index(i), v.Index(i))
		}
	case kind == reflect.Pointer && !v.IsNil() && hasStorage(t.Elem()):
		d.Set(reflect.NewAt(t.Elem(), z.at(v.UnsafePointer())).Convert(t))
	case kind == reflect.Slice && !v.IsNil() && v.Len() == 0:
		d.Set(reflect.MakeSlice(t, 0, 0))
	case kind == reflect.Slice && !v.IsNil() && hasStorage(t.Elem()):
		*(*sliceHeader)(d.Addr().UnsafePointer()) = sliceHeader{z.at(v.UnsafePointer()), v.Len(), v.Len()}
	case kind == reflect.Interface && !v.IsNil():
		p := addressable(reflect.Zero(v.Elem().Type()))
		z.fill(p, addressable(v.Elem()))
		d.Set(p)
	case kind == reflect.Map && !v.IsNil() && hasStorage(t.Elem()):
		if made := z.maps[v.UnsafePointer()]; made.IsValid() {
			d.Set(made)
			return
		}
		made := reflect.MakeMapWithSize(t, v.Len())
		z.maps[v.UnsafePointer()] = made
		d.Set(made)
		for entry := v.MapRange(); entry.Next(); {
			p := addressable(reflect.Zero(t.Elem()))
			z.fill(p, addressable(entry.Value()))
			made.SetMapIndex(entry.Key(), p)
		}
	default:
		d.Set(v)
	}
}

// exported returns the addressable field f as a value that may be read and set, even
// if f is not exported.
func exported(f reflect.Value) reflect.Value {
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
}

// addressable returns an addressable copy of v.
func addressable(v reflect.Value) reflect.Value {
	p := reflect.New(v.Type()).Elem()
	p.Set(v)
	return p
}

// hasStorage reports whether elements of type t, in a slice or under a pointer, are
// numbers or may lead to numbers.
func hasStorage(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Array, reflect.Pointer, reflect.Slice, reflect.Interface, reflect.Map:
		return t.Size() > 0
	}
	return isNumberType(t)
}

// isNumberType reports whether t is a type of numbers that have derivatives, or a
// struct or array of nothing else.
func isNumberType(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return true
	case reflect.Array:
		return isNumberType(t.Elem())
	case reflect.Struct:
		if known := numberStructs.Load(t); known != nil {
			return *known
		}
		all := t.NumField() > 0
		for i := range t.NumField() {
			all = all && isNumberType(t.Field(i).Type)
		}
		return *numberStructs.LoadOrStore(t, &all)
	}
	return t == reflect.TypeFor[fixed.Q43]()
}

// numberStructs says of structs whether they are nothing but numbers. (Type.Field allocates under
// js/wasm.)
var numberStructs bytype.Map[bool]
