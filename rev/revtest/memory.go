package revtest

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"unsafe"

	"revnum/fixed"
	"revnum/internal/draw"
	"revnum/rev"
)

// A number says how to read elements of a type as real numbers. An element is one real.
// A complex element is two, its real and its imaginary part.
type number struct {
	parts      int
	eps        float64    // distance from 1 to the next number
	exact      bool       // addition does not round
	step       float64    // of central differences
	diff       float64    // relative error of an extrapolated central difference
	magnitudes [2]float64 // of Spec
	get        func(p unsafe.Pointer, part int) float64
	set        func(p unsafe.Pointer, part int, v float64)
	extremes   []float64
}

const q43 = 1 << 43

var numbers = map[reflect.Type]*number{
	reflect.TypeFor[float64](): {
		parts: 1, eps: 0x1p-52, step: 0x1p-10, diff: 1e-8, magnitudes: [2]float64{1e-3, 1e3},
		get:      func(p unsafe.Pointer, _ int) float64 { return *(*float64)(p) },
		set:      func(p unsafe.Pointer, _ int, v float64) { *(*float64)(p) = v },
		extremes: extremes64,
	},
	reflect.TypeFor[float32](): {
		parts: 1, eps: 0x1p-23, step: 0x1p-5, diff: 1e-3, magnitudes: [2]float64{1e-3, 1e3},
		get:      func(p unsafe.Pointer, _ int) float64 { return float64(*(*float32)(p)) },
		set:      func(p unsafe.Pointer, _ int, v float64) { *(*float32)(p) = float32(v) },
		extremes: extremes32,
	},
	reflect.TypeFor[fixed.Q43](): {
		parts: 1, eps: 1.0 / q43, exact: true, step: 0x1p-8, diff: 1e-7, magnitudes: [2]float64{0.125, 8},
		get:      func(p unsafe.Pointer, _ int) float64 { return float64(*(*int64)(p)) / q43 },
		set:      func(p unsafe.Pointer, _ int, v float64) { *(*int64)(p) = toQ43(v) },
		extremes: extremesQ43,
	},
	reflect.TypeFor[complex128](): {
		parts: 2, eps: 0x1p-52, step: 0x1p-10, diff: 1e-8, magnitudes: [2]float64{1e-3, 1e3},
		get:      func(p unsafe.Pointer, part int) float64 { return (*[2]float64)(p)[part] },
		set:      func(p unsafe.Pointer, part int, v float64) { (*[2]float64)(p)[part] = v },
		extremes: extremes64,
	},
}

// toQ43 rounds v to the nearest number in the range of Q43.
func toQ43(v float64) int64 {
	switch x := math.RoundToEven(v * q43); {
	case x >= math.MaxInt64:
		return math.MaxInt64
	case x <= math.MinInt64:
		return math.MinInt64
	default:
		return int64(x)
	}
}

// guard is the number of poisoned elements on both sides of an operand.
const guard = 8

// An array is the memory of an operand. Poison lies before, between and after its
// elements.
type array struct {
	*number    // nil for an index
	full       reflect.Value
	base       unsafe.Pointer // of full
	size       uintptr        // bytes of an element
	rows, cols int
	stride     int
	where      []int // indices in full of the elements, row by row
}

// The bytes of poison.
const (
	poisonNaN    = 0xff // a NaN, the largest number below zero, or an index out of range
	poisonNumber = 0x3f // 0.0005 as a float64, 0.7 as a float32
)

// newArray returns a poisoned array for an operand of the given form, with or
// without gaps between its elements.
func (c *trial) newArray(op rev.Operand, rows, cols int) *array {
	extra := c.gap()
	a := &array{number: numbers[op.Elem], size: op.Elem.Size(), rows: rows, cols: cols, stride: cols}
	switch op.Kind {
	case rev.Vec:
		a.stride = 1 + extra/2
	case rev.Gen:
		a.stride = max(cols, 1) + extra
	}
	a.where = c.placesIn(form{rows, cols, a.stride})
	a.setFull(c.memory.slice(op.Elem, a.span()+2*guard))
	raw := a.raw()
	raw[0] = c.poison
	for n := 1; n < len(raw); n *= 2 {
		copy(raw[n:], raw[:n])
	}
	return a
}

// A form is the shape of an array and its stride.
type form struct{ rows, cols, stride int }

// placesIn returns the indices of the elements of an array. Arrays of one form share them.
func (c *trial) placesIn(f form) []int {
	if where, ok := c.places[f]; ok {
		return where
	}
	where := make([]int, 0, f.rows*f.cols)
	for i := range f.rows {
		for j := range f.cols {
			where = append(where, guard+i*f.stride+j)
		}
	}
	c.places[f] = where
	return where
}

// A memory has the elements of the arrays of a trial. The next trial uses it again: to clear and
// collect memory takes longer than to copy elements.
type memory struct {
	words []uint64
	used  int
}

// memories has the memory of suites that have ended. A sync.Pool would lose it to the next collections.
var memories = make(chan *memory, 4)

func newMemory() *memory {
	select {
	case m := <-memories:
		return m
	default:
		return &memory{}
	}
}

// free gives m to the next suite. A kernel that still writes after its pass has returned may therefore fail
// another one.
func (m *memory) free() {
	if len(m.words) > mostWords {
		return
	}
	select {
	case memories <- m:
	default:
	}
}

// Sizes of words.
const (
	leastWords = 1 << 13
	mostWords  = 1 << 21 // then arrays that are not used any more are collected
)

// slice returns a slice of n elements, with any contents.
func (m *memory) slice(elem reflect.Type, n int) reflect.Value {
	if elem.Kind() > reflect.Complex128 { // it may have pointers, which words do not keep
		return reflect.MakeSlice(reflect.SliceOf(elem), n, n)
	}
	need := (n*int(elem.Size()) + 7) / 8
	if m.used+need > len(m.words) {
		m.words = make([]uint64, max(need, min(max(2*len(m.words), leastWords), mostWords)))
		m.used = 0
	}
	p := unsafe.Pointer(&m.words[m.used])
	m.used += need
	return reflect.SliceAt(elem, p, n)
}

// mark returns a function that lets arrays that are made from here on lose their memory, so that it
// is still in the cache when it is used again.
func (m *memory) mark() (release func()) {
	words, used := m.words, m.used
	return func() {
		if len(words) != len(m.words) || len(words) > 0 && &words[0] != &m.words[0] {
			used = 0 // all in these words is later than the mark
		}
		m.used = used
	}
}

// setFull makes full the memory of a.
func (a *array) setFull(full reflect.Value) { a.full, a.base = full, full.UnsafePointer() }

func (a *array) span() int {
	if a.rows == 0 || a.cols == 0 {
		return 0
	}
	return (a.rows-1)*a.stride + a.cols
}

// raw returns the whole memory of a.
func (a *array) raw() []byte {
	return unsafe.Slice((*byte)(a.base), a.full.Len()*int(a.size))
}

// data returns the slice at the start of a view of a.
func (a *array) data() reflect.Value {
	end := guard + a.span()
	return a.full.Slice3(guard, end, end)
}

// attach makes field, which has the form of op, a view of a.
func (a *array) attach(op rev.Operand, field reflect.Value) {
	draw.View(field, op.Kind, a.data(), a.rows, a.cols, a.stride)
}

// len returns the number of reals in a.
func (a *array) len() int {
	if a.number == nil {
		return 0
	}
	return len(a.where) * a.parts
}

// place returns where real i of a is: the address of an element, and a part of it.
func (a *array) place(i int) (element unsafe.Pointer, part int) {
	if a.parts == 2 {
		i, part = i/2, i%2
	}
	return unsafe.Add(a.base, uintptr(a.where[i])*a.size), part
}

func (a *array) at(i int) float64 { return a.get(a.place(i)) }

func (a *array) put(i int, v float64) {
	p, part := a.place(i)
	a.set(p, part, v)
}

// fill sets each real of a to a result of f.
func (a *array) fill(f func() float64) {
	for i := range a.len() {
		a.put(i, f())
	}
}

// magnitude returns the largest magnitude in a.
func (a *array) magnitude() float64 {
	m := 0.0
	for i := range a.len() {
		m = max(m, math.Abs(a.at(i)))
	}
	return m
}

// name returns the name of the element that holds real i.
func (a *array) name(op rev.Operand, i int) string {
	i /= a.parts
	switch op.Kind {
	case rev.Scalar:
		return op.Name
	case rev.Gen:
		return fmt.Sprintf("%s[%d,%d]", op.Name, i/a.cols, i%a.cols)
	}
	return fmt.Sprintf("%s[%d]", op.Name, i)
}

// operands is a kernel value whose operands lie in arrays. A nil operand has no
// array.
type operands struct {
	k      any // a pointer to its struct
	arrays []*array
}

// fields returns the struct that k points to, for setting its fields.
func fields(k any) reflect.Value { return reflect.ValueOf(k).Elem() }

// copyOf returns a pointer to a kernel with the fields of k.
func copyOf(k any) any {
	v := fields(k)
	c := reflect.New(v.Type())
	c.Elem().Set(v)
	return c.Interface()
}

// shapeOf returns the view in a field. ok reports whether the field holds an operand.
func shapeOf(op rev.Operand, f reflect.Value) (data reflect.Value, rows, cols, stride int, ok bool) {
	switch op.Kind {
	case rev.Scalar:
		return f, 1, 1, 1, !f.IsNil()
	case rev.Slice:
		return f, f.Len(), 1, 1, !f.IsNil()
	case rev.Vec:
		n := int(draw.Field(f, "N").Int())
		data = draw.Field(f, "Data")
		return data, n, 1, int(draw.Field(f, "Inc").Int()), !data.IsNil()
	case rev.Sparse:
		data = draw.Field(f, "Data")
		return data, data.Len(), 1, 1, !data.IsNil()
	default:
		r, c := int(draw.Field(f, "Rows").Int()), int(draw.Field(f, "Cols").Int())
		data = draw.Field(f, "Data")
		return data, r, c, int(draw.Field(f, "Stride").Int()), !data.IsNil()
	}
}

// gap returns the size of the gaps between the rows of the next array. The gaps
// between the elements of a vector are half as large.
func (c *trial) gap() int {
	if c.storage == mixed {
		return c.rnd.IntN(2) * int(gapped)
	}
	return int(c.storage)
}

// layOut returns a copy of k whose operands lie in arrays of their own.
func (c *trial) layOut(k any) *operands {
	o := &operands{k: copyOf(k), arrays: make([]*array, len(c.Operands))}
	v := fields(o.k)
	for n, op := range c.Operands {
		f := v.Field(op.Field)
		data, rows, cols, stride, ok := shapeOf(op, f)
		if !ok {
			continue
		}
		a := c.newArray(op, rows, cols)
		for i := range min(rows, len(a.where)) {
			row := unsafe.Slice((*byte)(unsafe.Add(data.UnsafePointer(), uintptr(i*stride)*a.size)), cols*int(a.size))
			copy(a.raw()[uintptr(a.where[i*cols])*a.size:], row)
		}
		a.attach(op, f)
		o.arrays[n] = a
	}
	return o
}

// clone returns a copy of o, its poison included, in memory of its own.
func (c *trial) clone(o *operands) *operands {
	d := &operands{k: copyOf(o.k), arrays: make([]*array, len(o.arrays))}
	v := fields(d.k)
	for n, a := range o.arrays {
		if a == nil {
			continue
		}
		b := *a
		b.setFull(c.memory.slice(a.full.Type().Elem(), a.full.Len()))
		copy(b.raw(), a.raw())
		b.attach(c.Operands[n], v.Field(c.Operands[n].Field))
		d.arrays[n] = &b
	}
	return d
}

// like returns cotangents or tangents with the shape of o, all set to results of v, in
// memory of their own. If v is nil, they are poison.
func (c *trial) like(o *operands, v func() float64) *operands {
	d := &operands{k: copyOf(o.k), arrays: make([]*array, len(o.arrays))}
	for n, a := range o.arrays {
		switch {
		case a == nil:
		case c.Operands[n].Role == rev.Index:
			c.drop(d, n)
		default:
			b := c.newArray(c.Operands[n], a.rows, a.cols)
			if v != nil {
				b.fill(v)
			}
			c.setArray(d, n, b)
		}
	}
	return d
}

func (c *trial) random(o *operands) *operands { return c.like(o, c.rnd.NormFloat64) }

func (c *trial) zeros(o *operands) *operands {
	return c.like(o, func() float64 { return 0 })
}

// plus returns o + h·d, without changing the index operands.
func (c *trial) plus(o *operands, h float64, d *operands) *operands {
	s := c.clone(o)
	for n, a := range s.arrays {
		if a == nil || d.arrays[n] == nil {
			continue
		}
		for i := range a.len() {
			a.put(i, a.at(i)+float64(h*d.arrays[n].at(i)))
		}
	}
	return s
}

// drop makes operand n of o nil. A sparse matrix keeps its structure.
func (c *trial) drop(o *operands, n int) {
	f := fields(o.k).Field(c.Operands[n].Field)
	if c.Operands[n].Kind == rev.Sparse {
		f = draw.Field(f, "Data")
	}
	f.SetZero()
	o.arrays[n] = nil
}

// setArray makes a the array of operand n of o.
func (c *trial) setArray(o *operands, n int, a *array) {
	a.attach(c.Operands[n], fields(o.k).Field(c.Operands[n].Field))
	o.arrays[n] = a
}

// same returns an error unless operand n of got has the same bits as in want,
// poison included.
func (c *trial) same(got, want *operands, n int) error {
	a, b := got.arrays[n], want.arrays[n]
	if a == nil || b == nil || bytes.Equal(a.raw(), b.raw()) {
		return nil
	}
	for i := range a.len() {
		if x, y := a.at(i), b.at(i); math.Float64bits(x) != math.Float64bits(y) {
			return fmt.Errorf("%s is %v, want %v", a.name(c.Operands[n], i), x, y)
		}
	}
	if !bytes.Equal(a.elements(), b.elements()) {
		return fmt.Errorf("%s differs in its last bits", c.Operands[n].Name)
	}
	return fmt.Errorf("memory between or around the elements of %s is written", c.Operands[n].Name)
}

// elements returns the memory of the elements, without poison.
func (a *array) elements() []byte {
	var e []byte
	raw, size := a.raw(), int(a.size)
	for _, w := range a.where {
		e = append(e, raw[w*size:(w+1)*size]...)
	}
	return e
}

// gaps returns an error unless operand n of got has the same poison as in want.
func (c *trial) gaps(got, want *operands, n int) error {
	a, b := got.arrays[n], want.arrays[n]
	if a == nil || b == nil {
		return nil
	}
	x := bytes.Clone(a.raw())
	size := int(a.size)
	for _, w := range a.where {
		copy(x[w*size:(w+1)*size], b.raw()[w*size:(w+1)*size])
	}
	if !bytes.Equal(x, b.raw()) {
		return fmt.Errorf("memory between or around the elements of %s is written", c.Operands[n].Name)
	}
	return nil
}

// near returns an error unless operand n of got differs from operand n of want by
// at most tol times the largest magnitude among scales, plus c.floor.
func (c *trial) near(got, want *operands, n int, tol float64, scales ...*operands) error {
	a, b := got.arrays[n], want.arrays[n]
	if a == nil || b == nil {
		return nil
	}
	scale := 0.0
	for _, s := range scales {
		if s.arrays[n] != nil {
			scale = max(scale, s.arrays[n].magnitude())
		}
	}
	if math.IsNaN(scale) {
		return fmt.Errorf("%s holds a NaN", c.Operands[n].Name)
	}
	for i := range a.len() {
		if d := math.Abs(a.at(i) - b.at(i)); !(d <= float64(tol*scale)+c.floor) {
			return fmt.Errorf("%s is %v, want %v, difference %.3g > %.3g", a.name(c.Operands[n], i), a.at(i), b.at(i), d, tol*scale)
		}
	}
	return nil
}

// extreme returns a random number. With probability one half it is an extreme one.
func (a *array) extreme(rnd *rand.Rand) float64 {
	if rnd.IntN(2) == 0 {
		return rnd.NormFloat64()
	}
	return a.extremes[rnd.IntN(len(a.extremes))]
}

var (
	extremes64 = []float64{
		0, math.Copysign(0, -1), 1, -1, 0x1p-52, 1 + 0x1p-52,
		math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 0x1p-1022, -0x1p-1022,
		math.MaxFloat64, -math.MaxFloat64, 0x1p512, 0x1p-512, 709.75, -745.2,
		math.Inf(1), math.Inf(-1), math.NaN(),
	}
	extremes32 = []float64{
		0, math.Copysign(0, -1), 1, -1, 0x1p-23, 1 + 0x1p-23,
		math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 0x1p-126, -0x1p-126,
		math.MaxFloat32, -math.MaxFloat32, 0x1p64, 0x1p-64, 88.7, -103.9,
		math.Inf(1), math.Inf(-1), math.NaN(),
	}
	extremesQ43 = []float64{0, 1, -1, 0x1p-43, -0x1p-43, 0x1p20, -0x1p20, 0x1p19, 0x1p-22, 724.07}
)
