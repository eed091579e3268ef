package num

import (
	"unsafe"

	"revnum/internal/parallel"
	"revnum/internal/workspace"
	"revnum/rev"
)

// A Loop is a loop whose iterations run in parts, on several workers. Parts that add to
// the same numbers have sums of their own, which are added in the order of the parts.
// The parts do not depend on the number of workers. Neither do the bits of the sums.
type Loop[T rev.Number] struct {
	lo, hi, parts int
	operands      []rev.General[T]
	size          int // numbers that the parts add to operands
	stride        int // from the sums of a part to those of the next
	sums          []T
	next          int
}

// MaxParts bounds the parts of a loop, and so the memory that their sums take.
const MaxParts = 64

// NewLoop returns a loop over lo, ..., hi-1. A part has at least the given number of
// iterations, if there are so many.
func NewLoop[T rev.Number](lo, hi, least int) *Loop[T] {
	l := workspace.Get[*Loop[T]]()
	n := max(hi-lo, 0)
	l.lo, l.hi, l.parts = lo, hi, min(max(n/least, 1), MaxParts, n)
	return l
}

// Number says that the iterations add to *p, unless p is nil.
func (l *Loop[T]) Number(p *T) {
	if p != nil {
		l.Vector(rev.ViewSlice(unsafe.Slice(p, 1)))
	}
}

// Vector says that the iterations add to elements of v, which is contiguous, unless it
// is nil.
func (l *Loop[T]) Vector(v rev.Vector[T]) {
	l.Matrix(rev.General[T]{Rows: 1, Cols: v.N, Data: v.Data, Stride: v.N})
}

// Matrix says that the iterations add to elements of m, unless it is nil.
func (l *Loop[T]) Matrix(m rev.General[T]) {
	if m.Data != nil {
		l.operands = append(l.operands, m)
		l.size += m.Rows * m.Cols
	}
}

// A Task is what a loop does. Block runs one part of it.
type Task interface{ Block(worker, part int) }

// Run runs all parts of t. Each part has the given number of sums, and copies of operands;
// Run then adds the copies in order. If workers is 0, there are GOMAXPROCS.
func (l *Loop[T]) Run(workers, sums int, t Task) {
	const line = 16 // so that two parts do not write to the same line of a cache
	l.stride = (l.size + sums + line - 1) / line * line
	l.sums = workspace.Grow(l.sums, l.parts*l.stride)
	parallel.Run(parallel.Workers(workers), l.parts, t)

	for _, m := range l.operands {
		for i := range m.Rows {
			l.add(m.Row(i))
		}
	}
}

// Part returns the iterations of a part, and its sums, which are zero.
func (l *Loop[T]) Part(part int) (lo, hi int, own Own[T]) {
	sums := l.sums[part*l.stride:][:l.stride]
	clear(sums)
	n := l.hi - l.lo
	return l.lo + part*n/l.parts, l.lo + (part+1)*n/l.parts, Own[T]{sums}
}

// Parts returns the number of parts.
func (l *Loop[T]) Parts() int { return l.parts }

// Sum returns the next of the sums, over all parts.
func (l *Loop[T]) Sum() (sum T) {
	for part := range l.parts {
		sum += l.sums[part*l.stride+l.next]
	}
	l.next++
	return sum
}

// add adds the next sums to x.
func (l *Loop[T]) add(x []T) {
	if l.parts > 0 {
		total := l.sums[l.next:][:len(x)]
		for part := 1; part < l.parts; part++ {
			for i, v := range l.sums[part*l.stride+l.next:][:len(x)] {
				total[i] += v
			}
		}
		for i, v := range total {
			x[i] += v
		}
	}
	l.next += len(x)
}

// Free makes the memory available for reuse.
func (l *Loop[T]) Free() {
	clear(l.operands)
	*l = Loop[T]{operands: l.operands[:0], sums: l.sums[:0]}
	workspace.Put(l)
}

// Own has the sums of one part of a loop. Call its methods in the order of the Loop's, and
// then Sum for each sum.
type Own[T rev.Number] struct{ rest []T }

func (o *Own[T]) take(n int) []T {
	x := o.rest[:n:n]
	o.rest = o.rest[n:]
	return x
}

// Number replaces a pointer that is not nil by one to a number of this part.
func (o *Own[T]) Number(p **T) {
	if *p != nil {
		*p = &o.take(1)[0]
	}
}

// Vector replaces a vector that is not nil by one of this part.
func (o *Own[T]) Vector(v *rev.Vector[T]) {
	if v.Data != nil {
		*v = rev.ViewSlice(o.take(v.N))
	}
}

// Matrix replaces a matrix that is not nil by one of this part.
func (o *Own[T]) Matrix(m *rev.General[T]) {
	if m.Data != nil {
		*m = rev.NewGeneral(m.Rows, m.Cols, o.take(m.Rows*m.Cols))
	}
}

// Sum sets the next sum.
func (o *Own[T]) Sum(v T) { o.take(1)[0] = v }

// NewTask returns an S that FreeTask was given, or a new one.
func NewTask[S any]() *S { return workspace.Get[*S]() }

// FreeTask makes s available for reuse.
func FreeTask[S any](s *S) {
	*s = *new(S) // it has pointers to the memory of the caller
	workspace.Put(s)
}
