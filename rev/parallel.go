package rev

import (
	"fmt"
	"sync"
	"unsafe"

	"revnum/internal/parallel"
)

// Parallel returns the step that runs the branches at the same time, on up to
// GOMAXPROCS cores. The branches may read the same operands. A branch must not write
// what another branch reads or writes.
//
// Adjoint and AdjointTangent run the branches one after the other, in the order
// given, because all branches add to the cotangents of the operands that they share.
// The sums therefore have the same bits for any number of cores. The kernels in the
// branches may still use all cores. Use ParallelShared to run the branches at the
// same time in these methods too.
func Parallel[S any](branches ...Step[S]) Step[S] {
	return ParallelShared[S, float64](nil, branches...)
}

// ParallelShared is like Parallel, but runs the branches at the same time in all
// methods. The functions in shared return the operands that more than one branch
// reads. Each branch adds to its own copy of their cotangents, and the copies are then
// added up in the order of the branches. This takes memory for one copy of the shared
// operands per branch, and sums in another order than Parallel.
//
// If branches share an operand that shared does not return, there is a data race. The
// same holds if a step that is not made by this package uses a shared operand.
func ParallelShared[S any, T Real](shared []func(s *S) []T, branches ...Step[S]) Step[S] {
	return Step[S]{node: newFork(allOnState(shared), nodesOf(branches))}
}

func newFork[T Real](shared []func(s unsafe.Pointer) []T, branches []node) *fork[T] {
	f := &fork[T]{shared: shared, branches: branches}
	f.runs.New = func() any {
		return &forkRun[T]{fork: f, errs: make([]error, len(branches)), own: make([]ownCotangents[T], len(branches))}
	}
	return f
}

type fork[T Real] struct {
	branches []node
	shared   []func(s unsafe.Pointer) []T
	runs     sync.Pool // of *forkRun[T]
}

// A forkRun is one run of a fork, a parallel.Task.
type forkRun[T Real] struct {
	*fork[T]
	pass pass
	errs []error
	own  []ownCotangents[T]
}

func (f *fork[T]) run(p pass) error {
	if p.g != nil && len(f.shared) == 0 {
		for b, branch := range f.branches {
			if err := p.over(branch); err != nil {
				err = within(fmt.Sprintf("Parallel[%d]", b), err)
				return notRestored(err, undo(p, b, func(b int) node { return f.branches[b] }))
			}
		}
		return nil
	}
	r := f.runs.Get().(*forkRun[T])
	r.pass = p
	parallel.Run(parallel.Workers(0), len(f.branches), r)
	err := r.join()
	clear(r.errs)
	r.pass = pass{}
	for b := range r.own {
		r.own[b].forget()
	}
	f.runs.Put(r)
	return err
}

// Block runs branch b.
func (r *forkRun[T]) Block(_, b int) {
	p := r.pass
	if p.g != nil {
		own := &r.own[b]
		own.outer = p.own
		for _, shared := range r.shared {
			own.shared = append(own.shared, shared(p.g))
			if p.gt != nil {
				own.shared = append(own.shared, shared(p.gt))
			}
		}
		own.substitute()
		p.own = &own.substitution
	}
	r.errs[b] = p.over(r.branches[b])
}

// join adds up the cotangents of the branches. If branches have failed, it runs the
// others back instead, and returns the error of the first that failed.
func (r *forkRun[T]) join() error {
	for b, err := range r.errs {
		if err != nil {
			return r.undo(within(fmt.Sprintf("Parallel[%d]", b), err))
		}
	}
	if r.pass.g != nil {
		for b := range r.own {
			r.own[b].sum()
		}
	}
	return nil
}

// undo runs back the branches that have not failed.
func (r *forkRun[T]) undo(err error) error {
	for b := range r.branches {
		if r.errs[b] != nil {
			continue
		}
		p := r.pass
		if p.g != nil {
			p.own = &r.own[b].substitution
		}
		err = notRestored(err, undo(p, 1, func(int) node { return r.branches[b] }))
	}
	return err
}

// ownCotangents are a branch's own copies of the shared cotangents.
type ownCotangents[T Real] struct {
	substitution
	shared [][]T
	own    []T // the elements of all shared slices, one after the other
}

// substitute makes zeros that stand for o.shared.
func (o *ownCotangents[T]) substitute() {
	n := 0
	for _, x := range o.shared {
		n += len(x)
	}
	if cap(o.own) < n {
		o.own = make([]T, n)
	}
	o.own = o.own[:n]
	clear(o.own)
	at := 0
	for _, x := range o.shared {
		if len(x) == 0 {
			continue
		}
		o.ranges = append(o.ranges, span{
			from:  unsafe.Pointer(&x[0]),
			to:    unsafe.Pointer(&o.own[at]),
			bytes: uintptr(len(x)) * unsafe.Sizeof(x[0]),
		})
		at += len(x)
	}
}

// sum adds o to the shared cotangents, or to the enclosing branch's own copies of
// them.
func (o *ownCotangents[T]) sum() {
	at := 0
	for _, x := range o.shared {
		x, _ = ownOf(o.outer, x)
		for i := range x {
			x[i] += o.own[at+i]
		}
		at += len(x)
	}
}

// forget drops all pointers into the state.
func (o *ownCotangents[T]) forget() {
	clear(o.shared)
	o.shared = o.shared[:0]
	clear(o.ranges)
	o.ranges = o.ranges[:0]
	o.outer = nil
}

// A substitution maps memory to the memory that stands for it within one branch.
type substitution struct {
	ranges []span
	outer  *substitution // of the enclosing branch, if there is one
}

// A span is a range of memory and what stands for it.
type span struct {
	from, to unsafe.Pointer
	bytes    uintptr
}

// ownOf returns the memory that stands for x, or x itself if none does. split is as for find.
func ownOf[T any](s *substitution, x []T) (own []T, split bool) {
	if len(x) == 0 {
		return x, false
	}
	to, split := s.find(unsafe.Pointer(&x[0]), uintptr(len(x))*unsafe.Sizeof(x[0]))
	if to == nil {
		return x, split
	}
	return unsafe.Slice((*T)(to), len(x)), false
}

// find returns the memory that stands for the bytes at p, or nil if none does. split
// reports whether memory stands for some of the bytes but not for all of them.
func (s *substitution) find(p unsafe.Pointer, bytes uintptr) (to unsafe.Pointer, split bool) {
	for ; s != nil; s = s.outer {
		for _, r := range s.ranges {
			lo, from := uintptr(p), uintptr(r.from)
			switch {
			case lo+bytes <= from || from+r.bytes <= lo:
			case lo >= from && lo+bytes <= from+r.bytes:
				return unsafe.Add(r.to, lo-from), false
			default:
				return nil, true
			}
		}
	}
	return nil, false
}

// substitute moves the in operands of the kernel at k into the memory that stands for
// theirs in s. The kernel must not write memory for which other memory stands.
func (l *layout) substitute(k unsafe.Pointer, s *substitution) *OperandError {
	for i := range l.fields {
		f := &l.fields[i]
		var r region
		if !f.load(k, &r) || f.Role == Index || r.bytes == 0 {
			continue // the check that follows finds what is wrong
		}
		to, split := s.find(r.data, r.bytes)
		if split || to != nil && f.Role != In {
			return l.wrong(i, "g.", "shares memory with the shared operands of ParallelShared", ErrOverlap)
		}
		if to == nil {
			continue
		}
		if f.Kind == Scalar {
			*(*unsafe.Pointer)(unsafe.Add(k, f.data)) = to
		} else {
			*f.header(k) = sliceHeader{to, r.span(), r.span()}
		}
	}
	return nil
}
