package num

import (
	"revnum/internal/workspace"
	"revnum/rev"
)

// A Scratch holds what replaces operands during a pass: contiguous copies of vectors
// that are not contiguous, and zeros in place of operands that are nil. It recycles its
// memory.
type Scratch[T any] struct {
	blocks [][]T // of memory, in use up to their lengths
	at     int   // the present block; those after it have length 0
	size   int   // the sum of their capacities
	copies []vectorCopy[T]
}

// A vectorCopy is a vector, and a contiguous copy. If it is written, the copy goes back
// into the vector.
type vectorCopy[T any] struct {
	v       rev.Vector[T]
	x       []T
	written bool
}

// NewScratch returns a scratch that holds nothing.
func NewScratch[T rev.Number]() *Scratch[T] { return workspace.Get[*Scratch[T]]() }

// Free copies back the vectors that Write has replaced, and makes the memory available for
// reuse.
func (s *Scratch[T]) Free() {
	for _, c := range s.copies {
		if !c.written {
			continue
		}
		for i, v := range c.x {
			c.v.Data[i*c.v.Inc] = v
		}
	}
	clear(s.copies) // they have pointers to the memory of the caller
	s.copies = s.copies[:0]
	s.Release(Place{})
	workspace.Put(s)
}

// take returns n elements that nobody else has. A new block doubles the memory, unless n is more. All blocks stay, so a pass
// that comes again finds what it took before.
func (s *Scratch[T]) take(n int) []T {
	for s.at < len(s.blocks) && n > cap(s.blocks[s.at])-len(s.blocks[s.at]) {
		s.at++
	}
	if s.at == len(s.blocks) {
		size := max(n, s.size)
		s.blocks, s.size = append(s.blocks, make([]T, 0, size)), s.size+size
	}
	b := &s.blocks[s.at]
	from := len(*b)
	*b = (*b)[:from+n]
	return (*b)[from : from+n : from+n]
}

// Read replaces vectors that are not contiguous by copies. Vectors that share their
// elements share the copy.
func (s *Scratch[T]) Read(vs ...*rev.Vector[T]) { s.replace(vs, false) }

// Write does the same with vectors that the pass changes. They share no copy with
// vectors that it only reads.
func (s *Scratch[T]) Write(vs ...*rev.Vector[T]) { s.replace(vs, true) }

func (s *Scratch[T]) replace(vs []*rev.Vector[T], written bool) {
	for _, v := range vs {
		if old := *v; old.Inc > 1 && !s.shared(v, written) {
			v.Inc = 1
			if old.Data == nil {
				continue
			}
			v.Data = s.take(v.N)
			for i := range v.Data {
				v.Data[i] = old.Data[i*old.Inc]
			}
			s.copies = append(s.copies, vectorCopy[T]{old, v.Data, written})
		}
	}
}

// shared replaces v by the copy of a vector with the same elements, if there is one.
func (s *Scratch[T]) shared(v *rev.Vector[T], written bool) bool {
	for _, c := range s.copies {
		if c.written == written && v.Inc == c.v.Inc && v.N == c.v.N && len(v.Data) > 0 && len(c.x) > 0 && &v.Data[0] == &c.v.Data[0] {
			*v = rev.ViewSlice(c.x)
			return true
		}
	}
	return false
}

// zeros returns n zeros.
func (s *Scratch[T]) zeros(n int) []T {
	x := s.take(n)
	clear(x)
	return x
}

// Number replaces a pointer that is nil by one to a zero.
func (s *Scratch[T]) Number(p **T) {
	if *p == nil {
		*p = &s.zeros(1)[0]
	}
}

// Vector replaces a vector that is nil by n zeros.
func (s *Scratch[T]) Vector(v *rev.Vector[T], n int) {
	if v.Data == nil {
		*v = rev.ViewSlice(s.zeros(n))
	}
}

// Matrix replaces a matrix that is nil by zeros of the shape of m.
func (s *Scratch[T]) Matrix(v *rev.General[T], m rev.General[T]) {
	if v.Data == nil {
		*v = rev.NewGeneral(m.Rows, m.Cols, s.zeros(m.Rows*m.Cols))
	}
}

// Make returns n zeros, which last until Free.
func (s *Scratch[T]) Make(n int) []T {
	x := s.take(n)
	clear(x)
	return x
}

// A Place is one in the memory of a Scratch.
type Place struct{ block, used int }

// Mark returns a place in the memory for Release.
func (s *Scratch[T]) Mark() Place {
	if len(s.blocks) == 0 {
		return Place{}
	}
	return Place{s.at, len(s.blocks[s.at])}
}

// Release ends the use of what Make and its like have made since Mark returned a place. It takes that memory for
// what is made next, so Read and Write must not come in between. It does nothing if a place before that has been
// released.
func (s *Scratch[T]) Release(mark Place) {
	if mark.block > s.at || len(s.blocks) == 0 {
		return
	}
	for ; s.at > mark.block; s.at-- {
		s.blocks[s.at] = s.blocks[s.at][:0]
	}
	s.blocks[s.at] = s.blocks[s.at][:min(mark.used, len(s.blocks[s.at]))]
}
