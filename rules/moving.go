package rules

import (
	"fmt"
	"slices"
	"unsafe"

	"revnum/rev"
	"revnum/rules/internal/catalog"
)

// A Moving is a call that is prepared once, and then made on other memory each time. Only one goroutine may use it at
// a time.
type Moving struct {
	rule   *Rule
	pass   Pass
	frame  catalog.Frame
	set    bool // whether the frame has the operands
	args   Args // of which the memory is that of the call in progress
	places []place
}

// A place is where the address of the data of an operand belongs.
type place struct {
	name   string // of the operand, with the prefix of its part
	buffer *Buffer
	data   *unsafe.Pointer // in the frame, or nil if the operand has no data
}

// nothing stands for the memory of operands between calls.
var nothing byte

// PrepareMoving is [Rule.Prepare] for operands with the layouts of those of a, and other data in each call. It
// returns an error for rules with sparse matrices or graphs, whose structure is data.
func (r *Rule) PrepareMoving(p Pass, a Args) (m *Moving, err error) {
	if err := r.callable(p); err != nil {
		return nil, err
	}
	sparse := func(o Operand) bool { return o.kind == rev.Sparse }
	if len(r.structures) > 0 || slices.ContainsFunc(r.Operands, sparse) {
		return nil, fmt.Errorf("%w: %s has operands whose structure may change", ErrArgument, r.Name)
	}
	absent := func(i int) bool { return i >= len(a.Operands) || a.Operands[i].Data == nil }
	if p == Gradient && !r.InPlace && !slices.ContainsFunc(r.acc, func(i int) bool { return !absent(i) }) {
		p = Adjoint // which is the same without outputs, and has a method
	}
	defer func() {
		if v := recover(); v != nil {
			m, err = nil, failure(r, v)
		}
	}()
	m = &Moving{rule: r, pass: p, frame: r.newFrame(), set: true}
	if err := r.set(m.frame, &a); err != nil {
		return nil, err
	}
	m.frame.Check()
	m.args = Args{slices.Clone(a.Operands), slices.Clone(a.Cotangents), slices.Clone(a.Tangents), slices.Clone(a.CotangentTangents), slices.Clone(a.Params)}
	for part := range catalog.Part(catalog.NumParts) {
		list := m.args.part(part)
		for i := range list {
			b, o := &list[i], &r.Operands[i]
			at := place{name: partPrefix[part] + o.Name, buffer: b}
			if b.Data != nil && (part == catalog.Primal || o.role != rev.Index) {
				at.data = (*unsafe.Pointer)(unsafe.Add(m.frame.At(part), o.offset+dataOffset(o.kind)))
			} else {
				b.Data = nil // which nothing reads
			}
			m.places = append(m.places, at)
		}
	}
	m.forget()
	return m, nil
}

// forget drops the memory of the caller.
func (m *Moving) forget() {
	for i := range m.places {
		if p := &m.places[i]; p.data != nil {
			p.buffer.Data, *p.data = unsafe.Pointer(&nothing), unsafe.Pointer(&nothing)
		}
	}
}

// Call makes the pass as [Rule.Call] does. data has the address of the data of each Buffer that PrepareMoving was
// given: operands, cotangents, tangents and then tangents of cotangents. Those of Buffers that had no data are not read.
// Call keeps nothing of data.
func (m *Moving) Call(data []unsafe.Pointer) (err error) {
	if len(data) != len(m.places) {
		return fmt.Errorf("%w: %d addresses for %s, want %d", ErrArgument, len(data), m.rule.Name, len(m.places))
	}
	defer m.end(&err)
	odd := false
	for i := range m.places {
		p := &m.places[i]
		if p.data == nil {
			continue
		}
		if data[i] == nil && p.buffer.Len > 0 {
			return fmt.Errorf("%w: %s of %s has no address", ErrArgument, p.name, m.rule.Name)
		}
		p.buffer.Data, *p.data = data[i], data[i]
		odd = odd || data[i] == nil || uintptr(data[i])%p.buffer.Type.align() != 0
	}
	if odd { // wrong, or an operand without elements: Call knows
		return m.rule.Call(m.pass, m.args)
	}
	if !m.set {
		if err := m.rule.set(m.frame, &m.args); err != nil {
			return err
		}
		m.set = true
	}
	return m.frame.Call(m.pass.String())
}

// end forgets the memory of the caller, and turns a panic into an error.
func (m *Moving) end(err *error) {
	if v := recover(); v != nil {
		*err = failure(m.rule, v)
	}
	if *err != nil { // the frame may have any values
		m.frame.Clear()
		m.set = false
	}
	m.forget()
}
