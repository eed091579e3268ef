package rev

import (
	"math/bits"
	"unsafe"
)

// Calls of small kernels spend most of their time in check. plain accepts well-formed
// operands in 0.6 of the time. What it does not accept, check judges.

// A probe is what plain knows of an operand. Slots are places in a binding. Those of
// the symbols come first. Each dimension that is an expression has a slot of its own,
// and so has the number of entries of a sparse matrix.
type probe struct {
	offset, size uintptr
	cond         int        // offset of the bool field that chooses the slots, or -1
	slot         [2][2]int8 // of the dimensions if the bool is true, and if it is false; -1 for none
	entries      int8       // the slot of the number of entries
	kind         Kind
	role         Role
	optional     bool
}

// An equation says that the dimension in a slot is the value of an expression.
type equation struct {
	slot int
	expr expr
}

// newProbes returns the probes of l, and the equations between their slots. It returns
// none if an operand has no shape tag, or if there are too many operands or slots for
// plain.
func (l *layout) newProbes() (probes []probe, equations []equation) {
	if len(l.fields) > plainOperands {
		return nil, nil
	}
	slots := len(l.symbols)
	for i := range l.fields {
		f := &l.fields[i]
		if f.Kind != Scalar && !f.shape.tagged {
			return nil, nil
		}
		p := probe{offset: f.offset, size: f.size, cond: f.shape.cond, slot: [2][2]int8{{-1, -1}, {-1, -1}}, kind: f.Kind, role: f.Role, optional: f.Optional}
		for branch, dims := range f.shape.dims {
			for axis, d := range dims {
				s := d.symbol
				if s < 0 {
					s = slots
					slots++
					equations = append(equations, equation{s, d.expr})
				}
				p.slot[branch][axis] = int8(s)
			}
		}
		if f.Kind == Sparse {
			p.entries = int8(slots)
			slots++
		}
		probes = append(probes, p)
	}
	if slots > maxSlots {
		return nil, nil
	}
	return probes, equations
}

// plainOperands is a number of operands that most kernels do not exceed. Clearing room
// for more takes as long as checking them.
const plainOperands = 5

// An extent is the memory from the first to the last element of an operand. That of an
// absent operand is empty. It holds a pointer, as the stack may move.
type extent struct {
	data  unsafe.Pointer
	bytes uintptr
}

func (a extent) meets(b extent) bool {
	pa, pb := uintptr(a.data), uintptr(b.data)
	return pa < pb+b.bytes && pb < pa+a.bytes
}

// plain reports whether the operands of k, and those of the derivatives that are not
// nil, are well formed beyond doubt. Extents may meet only if two operands of k are only
// read. Like check, it fills in the dimensions of absent views of k.
func (l *layout) plain(k, g, t, gt unsafe.Pointer) bool {
	if l.probes == nil {
		return false
	}
	if g == nil && t == nil {
		var b binding
		var room [plainOperands]extent
		return l.plainKernel(k, &b, room[:])
	}
	var b binding
	var room [4 * plainOperands]extent
	n := len(l.probes)
	if !l.plainKernel(k, &b, room[:n]) {
		return false
	}
	end := n
	for _, d := range [...]unsafe.Pointer{g, t, gt} {
		if d == nil {
			continue
		}
		if !l.plainDerivative(k, d, &b, room[:end], room[end:end+n]) {
			return false
		}
		end += n
	}
	return true
}

// plainKernel is plain for k alone. It binds the slots in b, and stores the extents of
// the operands.
func (l *layout) plainKernel(k unsafe.Pointer, b *binding, room []extent) bool {
	for _, p := range l.params {
		b.set(p.symbol, *(*int)(unsafe.Add(k, p.offset)), -1)
	}
	absent := false
	for i := range l.probes {
		p := &l.probes[i]
		rows, cols, n, ok := p.measure(k, &room[i])
		if !ok {
			return false
		}
		if room[i].data == nil {
			if p.optional {
				absent = true
				continue
			}
			if rows > 0 && cols > 0 {
				return false
			}
		}
		if p.kind == Scalar {
			continue
		}
		slot := p.slots(k)
		if !b.agree(slot[0], rows) || !b.agree(slot[1], cols) {
			return false
		}
		if p.kind == Sparse {
			b.set(int(p.entries), n, i)
		}
	}
	for i := range l.equations {
		e := &l.equations[i]
		if v, ok := e.expr.eval(b); !ok || !b.agree(int8(e.slot), v) {
			return false
		}
	}
	for _, p := range l.pairs {
		if room[p[0]].meets(room[p[1]]) {
			return false
		}
	}
	return !absent || l.plainFill(k, b, room)
}

// plainFill sets the dimensions of the absent views of k.
func (l *layout) plainFill(k unsafe.Pointer, b *binding, room []extent) bool {
	for i := range l.probes {
		p := &l.probes[i]
		if room[i].data != nil || p.role != Acc {
			continue
		}
		at, slot := unsafe.Add(k, p.offset), p.slots(k)
		switch p.kind {
		case Vec:
			if !b.has(int(slot[0])) || b.value[slot[0]] < 0 {
				return false
			}
			(*Vector[byte])(at).N = b.value[slot[0]]
		case Gen:
			if !b.has(int(slot[0])) || !b.has(int(slot[1])) || b.value[slot[0]] < 0 || b.value[slot[1]] < 0 {
				return false
			}
			m := (*General[byte])(at)
			m.Rows, m.Cols = b.value[slot[0]], b.value[slot[1]]
		}
	}
	return true
}

// plainDerivative is plain for the derivatives d of k. The extents before must not meet
// those of d.
func (l *layout) plainDerivative(k, d unsafe.Pointer, b *binding, before, room []extent) bool {
	for i := range l.probes {
		p := &l.probes[i]
		if p.role == Index {
			continue
		}
		rows, cols, n, ok := p.measure(d, &room[i])
		if !ok {
			return false
		}
		if room[i].data == nil {
			continue
		}
		switch slot := p.slots(k); {
		case p.kind == Scalar:
		case p.kind == Sparse:
			if !b.has(int(p.entries)) || b.value[p.entries] != n {
				return false
			}
		case !b.has(int(slot[0])) || b.value[slot[0]] != rows:
			return false
		case p.kind == Gen && (!b.has(int(slot[1])) || b.value[slot[1]] != cols):
			return false
		}
		for j := range before {
			if room[i].meets(before[j]) {
				return false
			}
		}
		for j := range i {
			if room[i].meets(room[j]) {
				return false
			}
		}
	}
	return true
}

// slots returns the slots of the dimensions, by the condition if there is one.
func (p *probe) slots(k unsafe.Pointer) *[2]int8 {
	if p.cond >= 0 && !*(*bool)(unsafe.Add(k, p.cond)) {
		return &p.slot[1]
	}
	return &p.slot[0]
}

// agree binds the slot to the dimension v if it has none yet, and reports whether it
// has v. No slot agrees with everything.
func (b *binding) agree(slot int8, v int) bool {
	switch {
	case slot < 0:
		return true
	case b.has(int(slot)):
		return b.value[slot] == v
	}
	b.value[slot] = v
	b.known |= 1 << slot
	return true
}

// measure reads the operand in the kernel value at k. It returns the dimensions, and
// the number of entries of a sparse matrix, and sets r to its memory. ok is false if
// the operand is malformed.
func (p *probe) measure(k unsafe.Pointer, r *extent) (rows, cols, n int, ok bool) {
	at := unsafe.Add(k, p.offset)
	var data []byte
	stride := 1
	cols = 1
	switch p.kind {
	case Scalar:
		if q := *(*unsafe.Pointer)(at); q != nil {
			*r = extent{q, p.size}
		}
		return 1, 1, 1, true
	case Slice:
		data = *(*[]byte)(at)
		rows = len(data)
	case Vec:
		v := (*Vector[byte])(at)
		data, rows, stride = v.Data, v.N, v.Inc
	case Gen:
		m := (*General[byte])(at)
		data, rows, cols, stride = m.Data, m.Rows, m.Cols, m.Stride
	case Sparse:
		m := (*sparse)(at)
		data = m.Data
		if len(m.Ind) > len(data) {
			return 0, 0, 0, false
		}
		*r = extent{unsafe.Pointer(unsafe.SliceData(data)), uintptr(len(data)) * p.size}
		return m.Rows, m.Cols, len(data), m.Rows >= 0 && m.Cols >= 0 && (data != nil || m.Rows > 0 && m.Cols > 0)
	}
	if rows < 0 || cols < 0 {
		return 0, 0, 0, false
	}
	r.data = unsafe.Pointer(unsafe.SliceData(data))
	if data == nil || rows == 0 || cols == 0 {
		return rows, cols, 0, true
	}
	if stride < cols {
		return 0, 0, 0, false
	}
	// The product may not fit an int.
	hi, last := bits.Mul(uint(rows-1), uint(stride))
	if hi != 0 || len(data) < cols || last > uint(len(data)-cols) {
		return 0, 0, 0, false
	}
	r.bytes = (uintptr(last) + uintptr(cols)) * p.size
	return rows, cols, 0, true
}
