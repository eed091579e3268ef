package num

import (
	"math"

	"revnum/internal/revolve"
	"revnum/internal/workspace"
	"revnum/rev"
)

// A Tape keeps the values of the locals of a loop before its iterations: before each
// iteration, or before a few, from which the others are computed again.
//
// A loop of n iterations that keeps all states writes them with Push. The inverse reads them
// with Pop, the last number first. Extend and Take do so with several values. What they keep and
// what Push keeps are two stacks of one Tape, each with an order of its own. A loop that keeps a
// few calls Keep before each iteration. In the inverse, Back returns the iteration from which to
// run again up to iteration i:
//
//	for i := range n {
//		if tape.Keep(i, n) {
//			tape.Push(h)
//		}
//		h = f(h)
//	}
//	for i := n - 1; i >= 0; i-- {
//		from := tape.Back(i)
//		h = tape.Pop()
//		for j := from; j < i; j++ {
//			if tape.Keep(j, i) {
//				tape.Push(h)
//			}
//			h = f(h)
//		}
//		... // h is as it was before iteration i
//	}
type Tape[T any] struct {
	values []T   // of Push
	piece  []T   // the present one of pieces, for Extend
	pieces [][]T // piece is pieces[at], if there are any
	at     int
	limit  int // the number of states to keep, with Keep
	kept   []snapshot
	next   int // the iteration before which Keep keeps the state
}

// A snapshot is the state before iteration i. Its numbers begin at values[from].
type snapshot struct{ i, from int }

// NewTape returns an empty tape for all states.
func NewTape[T any]() *Tape[T] { return workspace.Get[*Tape[T]]() }

// NewSnapshots returns an empty tape for at most the given number of states, and for at
// least one.
func NewSnapshots[T rev.Number](snapshots int) *Tape[T] {
	t := NewTape[T]()
	t.limit = max(1, snapshots)
	return t
}

// Free makes the tape available for reuse. Do not use it afterwards.
func (t *Tape[T]) Free() {
	if t.at > 0 {
		t.piece, t.at = t.pieces[0], 0
	}
	t.values, t.piece, t.kept, t.limit, t.next = t.values[:0], t.piece[:0], t.kept[:0], 0, 0
	workspace.Put(t)
}

// Push puts v on the tape.
func (t *Tape[T]) Push(v T) { t.values = append(t.values, v) }

// Pop takes the last value that Push put on the tape.
func (t *Tape[T]) Pop() T {
	n := len(t.values) - 1
	v := t.values[n]
	t.values = t.values[:n]
	return v
}

// Extend puts n values on the tape, and returns them, for the caller to set before it puts others there. It does
// nothing if n is negative.
func (t *Tape[T]) Extend(n int) []T {
	from, n := len(t.piece), max(n, 0)
	if cap(t.piece)-from < n {
		t.more(n)
		from = len(t.piece)
	}
	t.piece = t.piece[:from+n]
	return t.piece[from:]
}

// Take takes the last n values from the tape, which Extend put on it. They stay as they are until the next call of
// Extend.
func (t *Tape[T]) Take(n int) []T {
	n = max(n, 0)
	if n > len(t.piece) {
		t.pieces[t.at] = t.piece
		t.at--
		t.piece = t.pieces[t.at]
	}
	from := len(t.piece) - n
	x := t.piece[from:]
	t.piece = t.piece[:from]
	return x
}

const (
	leastPiece = 256     // values
	mostPiece  = 1 << 21 // values, unless more are put on a tape at once
)

// more begins a piece with room for n values. A long tape is in pieces, because a longer slice would be a copy. None
// before the present one is empty.
func (t *Tape[T]) more(n int) {
	size := max(n, min(2*cap(t.piece), mostPiece), leastPiece)
	if len(t.piece) > 0 {
		if t.pieces == nil {
			t.pieces = [][]T{nil}
		}
		t.pieces[t.at] = t.piece
		t.at++
		if t.at == len(t.pieces) {
			t.pieces = append(t.pieces, nil)
		}
		t.piece = t.pieces[t.at][:0]
	}
	if cap(t.piece) < n {
		t.piece = workspace.Grow[T](nil, size)[:0]
	}
}

// Keep reports whether to push the state before iteration i, if the loop now runs to the
// state before iteration n. n is -1 if that is not known. Then the tape keeps all states as
// long as there is room, and only the first if there is not.
func (t *Tape[T]) Keep(i, n int) bool {
	if i != t.next {
		return false
	}
	if n < 0 && len(t.kept) == t.limit {
		t.values, t.kept, t.next = t.values[:len(t.values)/t.limit], t.kept[:1], math.MaxInt
		return false
	}
	t.kept = append(t.kept, snapshot{i, len(t.values)})
	t.plan(i, n)
	return true
}

// plan sets which state to keep next. The last one kept is the state before iteration i,
// and the loop runs to the state before iteration n.
func (t *Tape[T]) plan(i, n int) {
	switch free := t.limit - len(t.kept); {
	case n < 0, free >= n-i-1:
		t.next = i + 1
	case free == 0:
		t.next = math.MaxInt
	default:
		t.next = i + revolve.Split(n+1-i, free+1)
	}
}

// Back returns the iteration from which to run forward to the state before iteration i.
// Pop then returns the state before the returned iteration.
func (t *Tape[T]) Back(i int) (from int) {
	last := len(t.kept) - 1
	top := t.kept[last]
	if top.i < i { // it is needed again
		t.values = append(t.values, t.values[top.from:]...)
		t.plan(top.i, i)
		return top.i
	}
	t.kept, t.next = t.kept[:last], 0
	return i
}
