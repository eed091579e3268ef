package num

import (
	"unsafe"

	"revnum/internal/workspace"
	"revnum/rev"
)

// Copies holds what operands were, for a pass that changes them and then calls a kernel
// that may fail. If that fails, Restore puts all numbers back, to the bit:
//
//	was := num.NewCopies[float64]()
//	was.Vectors(k.Y)
//	... // k.Y changes
//	if err := solve.Forward(); err != nil {
//		was.Restore()
//		return err
//	}
//	was.Free()
//
// It recycles its memory. Operands that are nil have no copies.
type Copies[T any] struct {
	memory []T
	of     []rev.General[T]
}

// NewCopies returns copies of nothing.
func NewCopies[T rev.Number]() *Copies[T] { return workspace.Get[*Copies[T]]() }

// Numbers copies what the pointers point to.
func (c *Copies[T]) Numbers(ps ...*T) {
	for _, p := range ps {
		if p != nil {
			c.Vectors(rev.ViewSlice(unsafe.Slice(p, 1)))
		}
	}
}

// Vectors copies vectors.
func (c *Copies[T]) Vectors(vs ...rev.Vector[T]) {
	for _, v := range vs {
		if v.Inc == 1 {
			c.Matrices(rev.General[T]{Rows: 1, Cols: v.N, Data: v.Data, Stride: v.N})
		} else {
			c.Matrices(rev.General[T]{Rows: v.N, Cols: 1, Data: v.Data, Stride: v.Inc})
		}
	}
}

// Matrices copies matrices.
func (c *Copies[T]) Matrices(ms ...rev.General[T]) {
	for _, m := range ms {
		if m.Data == nil {
			continue
		}
		c.of = append(c.of, m)
		for i := range m.Rows {
			c.memory = append(c.memory, m.Row(i)...)
		}
	}
}

// Restore puts the copies back, and frees them.
func (c *Copies[T]) Restore() {
	from := c.memory
	for _, m := range c.of {
		for i := range m.Rows {
			from = from[copy(m.Row(i), from):]
		}
	}
	c.Free()
}

// Free makes the memory available for reuse. Do not use the copies afterwards.
func (c *Copies[T]) Free() {
	clear(c.of) // it has pointers to the memory of the caller
	c.of, c.memory = c.of[:0], c.memory[:0]
	workspace.Put(c)
}
