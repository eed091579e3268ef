package rev

import (
	"math/bits"
	"unsafe"
)

// Most calls have every operand in place, dense or strided, and far from all others. accepts
// finds that out in a third of the time of a checker, which clears the memory of its regions
// and names, and knows why it refuses.

// maxPlain bounds the operands of a plain layout.
const maxPlain = 6

// plain is the part of a layout that accepts reads. It is empty unless all shapes of the
// kernel are names without conditions, and no operand is sparse.
type plain struct {
	operands []plainOperand
	same     [][2]uintptr // offsets of two dimensions with the same name
}

// A plainOperand says where the header of an operand lies in the kernel.
type plainOperand struct {
	kind         Kind
	writes       bool // whether the kernel writes it
	index        bool // whether it has no derivatives
	offset, data uintptr
	size         uintptr // of an element
}

// newPlain returns the plain part of l.
func newPlain(l *layout) (p plain) {
	if len(l.fields) > maxPlain {
		return plain{}
	}
	for i := range l.fields {
		f := &l.fields[i]
		if f.Kind == Sparse {
			return plain{}
		}
		p.operands = append(p.operands, plainOperand{f.Kind, !f.Role.readOnly(), f.Role == Index, f.offset, f.data, f.size})
	}
	first := map[int8]uintptr{}
	for _, e := range l.equations {
		if e.symbol < 0 || e.cond >= 0 {
			return plain{}
		}
		if at, ok := first[e.symbol]; ok {
			p.same = append(p.same, [2]uintptr{at, e.offset})
		} else {
			first[e.symbol] = e.offset
		}
	}
	return p
}

// noneNil returns the one of two pointers that is not nil, or nil.
func noneNil(a, b unsafe.Pointer) unsafe.Pointer {
	if a != nil {
		return a
	}
	return b
}

// accepts reports whether the operands of k, and its derivatives d unless that is nil, are
// plainly well formed: all operands of k are there and have elements, and the memory that an
// operand spans meets that of no other, unless the kernel reads both. If accepts returns
// false, they may be well formed all the same.
func (p *plain) accepts(k, d unsafe.Pointer) bool {
	if len(p.operands) == 0 {
		return false
	}
	if d == nil {
		var room [maxPlain]extent
		return p.acceptsKernel(k, room[:])
	}
	var room [2 * maxPlain]extent // of the operands of k, then of those of d
	if !p.acceptsKernel(k, room[:]) {
		return false
	}
	n := len(p.operands)
	for i := range p.operands {
		f := &p.operands[i]
		if f.index || f.absent(d) {
			continue
		}
		e := f.extent(d)
		if e.bytes == 0 || !f.sameSize(k, d) {
			return false
		}
		for _, other := range room[:n] {
			if e.meets(other) {
				return false
			}
		}
		room[n] = e
		n++
	}
	return true
}

// acceptsKernel is accepts without derivatives. It stores the extents of the operands in room.
func (p *plain) acceptsKernel(k unsafe.Pointer, room []extent) bool {
	for i := range p.same {
		s := &p.same[i]
		if *(*int)(unsafe.Add(k, s[0])) != *(*int)(unsafe.Add(k, s[1])) {
			return false
		}
	}
	for i := range p.operands {
		f := &p.operands[i]
		e := f.extent(k)
		if e.bytes == 0 {
			return false
		}
		for j, other := range room[:i] {
			if e.meets(other) && (f.writes || p.operands[j].writes) {
				return false
			}
		}
		room[i] = e
	}
	return true
}

// An extent is the memory from the first element of an operand to its last. It has a pointer, because
// operands on a stack move with it.
type extent struct {
	data  unsafe.Pointer
	bytes uintptr
}

func (e extent) meets(o extent) bool {
	d := uintptr(o.data) - uintptr(e.data) // differences wrap around
	return d < e.bytes || -d < o.bytes
}

// extent returns the extent of the operand in the kernel value v, or none if it is nil, empty
// or malformed.
func (f *plainOperand) extent(v unsafe.Pointer) extent {
	data := *(*unsafe.Pointer)(unsafe.Add(v, f.data))
	if data == nil {
		return extent{}
	}
	p := unsafe.Add(v, f.offset)
	switch f.kind {
	case Scalar:
		return extent{data, f.size}
	case Slice:
		n := len(*(*[]byte)(p))
		return f.block(data, n, n, 1, 1)
	case Vec:
		x := (*Vector[byte])(p)
		return f.block(data, len(x.Data), x.N, 1, x.Inc)
	}
	m := (*General[byte])(p)
	return f.block(data, len(m.Data), m.Rows, m.Cols, m.Stride)
}

// block returns the extent of rows of n elements of data.
func (f *plainOperand) block(data unsafe.Pointer, n, rows, cols, stride int) extent {
	if rows <= 0 || cols <= 0 || stride < cols {
		return extent{}
	}
	hi, last := bits.Mul(uint(rows-1), uint(stride)) // may not fit an int
	if hi != 0 || n < cols || last > uint(n-cols) {
		return extent{}
	}
	return extent{data, (uintptr(last) + uintptr(cols)) * f.size}
}

// absent reports whether the operand is nil in the kernel value v, without dimensions.
func (f *plainOperand) absent(v unsafe.Pointer) bool {
	p := unsafe.Add(v, f.offset)
	return *(*unsafe.Pointer)(unsafe.Add(v, f.data)) == nil &&
		(f.kind != Vec || (*Vector[byte])(p).N == 0) &&
		(f.kind != Gen || (*General[byte])(p).Rows|(*General[byte])(p).Cols == 0)
}

// sameSize reports whether the operand has the same dimensions in k and in d.
func (f *plainOperand) sameSize(k, d unsafe.Pointer) bool {
	k, d = unsafe.Add(k, f.offset), unsafe.Add(d, f.offset)
	switch f.kind {
	case Scalar:
		return true
	case Slice:
		return len(*(*[]byte)(k)) == len(*(*[]byte)(d))
	case Vec:
		return (*Vector[byte])(k).N == (*Vector[byte])(d).N
	}
	a, b := (*General[byte])(k), (*General[byte])(d)
	return a.Rows == b.Rows && a.Cols == b.Cols
}
