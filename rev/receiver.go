package rev

import (
	"math"
	"unsafe"

	"gonum.org/v1/gonum/mat"
)

// A receiver is an empty matrix or vector of gonum in the place of an operand. The
// methods of gonum give an empty receiver the size of their result, and so do kernels.
// The view of an empty value has no elements. Its stride is emptyStride, and its Data points
// to the receiver. Views need no field for it.
type receiver struct {
	value any
	kind  mat.TriKind // of a *mat.TriDense
}

// Strides that no other views have: of empty gonum values, and of nil ones. The zero view is
// not nil: as an input it is a view of no elements.
const (
	emptyStride = math.MinInt
	nilStride   = math.MinInt + 1
)

// emptyView returns the Data of a view of the empty value. It is not inlined, so that the
// receiver and the value are on the heap: a check keeps pointers to them there.
//
//go:noinline
func emptyView[T float64 | complex128](value any, kind mat.TriKind) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(&receiver{value, kind})), 0)
}

// receiver returns the empty gonum value that the operand in the kernel value v is a view
// of. It returns nil if the operand is another view.
func (f *field) receiver(v unsafe.Pointer) *receiver {
	p, stride := unsafe.Add(v, f.offset), 0
	switch f.Kind {
	case Vec:
		stride = (*Vector[byte])(p).Inc
	case Gen:
		stride = (*General[byte])(p).Stride
	}
	if stride != emptyStride {
		return nil
	}
	return (*receiver)(f.header(v).data)
}

// view returns a view of the value. If it is empty and rows and cols are not 0, it gets
// this size.
func (r *receiver) view(rows, cols int) (data sliceHeader, gotRows, gotCols, stride int) {
	resize := rows > 0 && cols > 0
	switch v := r.value.(type) {
	case *mat.VecDense:
		if resize && v.IsEmpty() {
			v.ReuseAsVec(rows)
		}
		raw := v.RawVector()
		return header(raw.Data), raw.N, 1, raw.Inc
	case *mat.Dense:
		if resize && v.IsEmpty() {
			v.ReuseAs(rows, cols)
		}
		raw := v.RawMatrix()
		return header(raw.Data), raw.Rows, raw.Cols, raw.Stride
	case *mat.SymDense:
		if resize && v.IsEmpty() {
			v.ReuseAsSym(rows)
		}
		raw := v.RawSymmetric()
		return header(raw.Data), raw.N, raw.N, raw.Stride
	case *mat.TriDense:
		if resize && v.IsEmpty() {
			v.ReuseAsTri(rows, r.kind)
		}
		raw := v.RawTriangular()
		return header(raw.Data), raw.N, raw.N, raw.Stride
	case *mat.CDense:
		if resize && v.IsEmpty() {
			v.ReuseAs(rows, cols)
		}
		raw := v.RawCMatrix()
		return header(raw.Data), raw.Rows, raw.Cols, raw.Stride
	}
	panic("rev: a view of another type")
}

func header[T any](x []T) sliceHeader {
	return sliceHeader{unsafe.Pointer(unsafe.SliceData(x)), len(x), cap(x)}
}

// receive is check for values with views of receivers. It first treats the receivers of
// outputs and derivatives as absent. If all other operands are well formed, the receivers
// then get their sizes.
func (c *checker) receive(room []region) *OperandError {
	type place struct {
		*receiver
		value, field int
	}
	var places []place
	for v, d := range c.values {
		for i := range c.fields {
			f := &c.fields[i]
			if d == nil || f.Role == Index {
				continue
			}
			if r := f.receiver(d); r != nil {
				data, rows, cols, stride := r.view(0, 0) // it may be empty no longer
				switch {
				case data.len > 0:
				case v > 0 || f.Role == Acc:
					data = sliceHeader{}
					places = append(places, place{r, v, i})
				default: // an empty input is not absent
					data = *f.header(d)
				}
				f.put(d, data, rows, cols, stride)
			}
		}
	}
	c.binding = binding{}
	if err := c.check(room); err != nil {
		return err
	}
	for _, p := range places {
		f, k := &c.fields[p.field], &room[p.field]
		switch {
		case k.rows < 0 || k.cols < 0:
			return c.wrong(p.field, p.value, "is empty, and no other operand has its dimensions", mat.ErrShape)
		case !k.empty():
			data, rows, cols, stride := p.view(k.rows, k.cols)
			f.put(c.values[p.value], data, rows, cols, stride)
		}
	}
	c.binding = binding{}
	return c.check(room)
}
