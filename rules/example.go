package rules

import (
	"math/rand/v2"
	"reflect"
	"unsafe"

	"revnum/fixed"
	"revnum/rev"
)

// Example returns random operands of a rule that lie within its domain, and the
// parameters that go with them. Matrices are about rows×cols.
func (r *Rule) Example(rnd *rand.Rand, rows, cols int) Args {
	v := reflect.ValueOf(r.instance.New(rnd, rows, cols))
	k := reflect.New(v.Type())
	k.Elem().Set(v)
	at := k.UnsafePointer()
	a := Args{Operands: make([]Buffer, len(r.Operands)), Params: make([]float64, len(r.Params))}
	for i := range r.Operands {
		if !r.Operands[i].structure {
			a.Operands[i] = r.Operands[i].get(at)
		}
	}
	for _, s := range r.structures {
		copy(a.Operands[s.first:], s.get(unsafe.Add(at, s.offset)))
	}
	for i, p := range r.Params {
		switch f := reflect.NewAt(p.typ, unsafe.Add(at, p.offset)).Elem(); {
		case f.Kind() == reflect.Bool:
			if f.Bool() {
				a.Params[i] = 1
			}
		case f.Type() == types[Q43].typ:
			a.Params[i] = fixed.Q43(f.Int()).Float64()
		case f.CanInt():
			a.Params[i] = float64(f.Int())
		case f.CanUint():
			a.Params[i] = float64(f.Uint())
		default:
			a.Params[i] = f.Float()
		}
	}
	return a
}

// get returns the operand of the kernel at k.
func (o *Operand) get(k unsafe.Pointer) Buffer {
	p := unsafe.Add(k, o.offset)
	b := Buffer{Type: o.Type}
	var data []byte
	switch o.kind {
	case rev.Scalar:
		b.Data = *(*unsafe.Pointer)(p)
		if b.Data != nil {
			b.Len = 1
		}
		return b
	case rev.Slice:
		data = *(*[]byte)(p)
		b.Axes, b.Shape, b.Stride = 1, [2]int{len(data)}, [2]int{1}
	case rev.Vec:
		v := (*vectorHeader)(p)
		data = v.Data
		b.Axes, b.Shape, b.Stride = 1, [2]int{v.N}, [2]int{v.Inc}
	case rev.Gen:
		m := (*matrixHeader)(p)
		data = m.Data
		b.Axes, b.Shape, b.Stride = 2, [2]int{m.Rows, m.Cols}, [2]int{m.Stride, 1}
	case rev.Sparse:
		m := (*sparseHeader)(p)
		data = m.Data
		b.Axes, b.Shape, b.Sparse, b.Ptr, b.Ind = 2, [2]int{m.Rows, m.Cols}, true, m.Ptr, m.Ind
	}
	if b.Data, b.Len = unsafe.Pointer(unsafe.SliceData(data)), len(data); data == nil {
		return Buffer{}
	}
	return b
}
