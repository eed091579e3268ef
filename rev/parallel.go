package rev

import (
	"fmt"
	"sync"
	"unsafe"

	"revnum/internal/parallel"
)

// Parallel returns the step that runs the branches at the same time, on up to
// GOMAXPROCS cores. A branch may write what no other branch reads or writes;
// the branches may read the same operands.
//
// In the methods that carry cotangents back, all branches add to the
// cotangents of what they share. There the branches run one after the other,
// in the order given, so that the sums are the same bits whatever the number
// of cores (their kernels may still use all cores); ParallelShared runs them at
// the same time.
func Parallel[S any](branches ...Step[S]) Step[S] {
	return ParallelShared[S, float64](nil, branches...)
}

// ParallelShared is Parallel with the operands that more than one branch
// reads named by shared. It runs the branches at the same time in all methods:
// each adds to cotangents of its own in place of the shared ones, and these
// are then added up in the order of the branches. That takes memory for the
// shared operands once a branch, and sums in another order than Parallel.
//
// What branches share and shared does not name is a data race, and so are
// shared operands of steps other than those of this package.
func ParallelShared[S any, T Real](shared []func(s *S) []T, branches ...Step[S]) Step[S] {
	f := &fork[S, T]{shared: shared, branches: append([]Step[S](nil), branches...)}
	f.runs.New = func() any {
		return &forkRun[S, T]{fork: f, errs: make([]error, len(branches)), own: make([]ownCotangents[T], len(branches))}
	}
	return Step[S]{f}
}

type fork[S any, T Real] struct {
	branches []Step[S]
	shared   []func(s *S) []T
	runs     sync.Pool // of *forkRun[S, T]
}

// A forkRun is one run of a fork, a parallel.Task.
type forkRun[S any, T Real] struct {
	*fork[S, T]
	pass pass[S]
	errs []error
	own  []ownCotangents[T]
}

func (f *fork[S, T]) run(p pass[S]) error {
	if p.g != nil && len(f.shared) == 0 {
		for b, branch := range f.branches {
			if err := branch.pass(p); err != nil {
				err = within(fmt.Sprintf("Parallel[%d]", b), err)
				return notRestored(err, undo(p, b, func(b int) Step[S] { return f.branches[b] }))
			}
		}
		return nil
	}
	r := f.runs.Get().(*forkRun[S, T])
	r.pass = p
	parallel.Run(parallel.Workers(0), len(f.branches), r)
	err := r.join()
	clear(r.errs)
	r.pass = pass[S]{}
	for b := range r.own {
		r.own[b].forget()
	}
	f.runs.Put(r)
	return err
}

// Block runs branch b.
func (r *forkRun[S, T]) Block(_, b int) {
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
	r.errs[b] = r.branches[b].pass(p)
}

// join adds up the cotangents of the branches, or if one has failed runs the
// others back and returns the error of the first in order.
func (r *forkRun[S, T]) join() error {
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

// undo runs the branches that have not failed back.
func (r *forkRun[S, T]) undo(err error) error {
	for b := range r.branches {
		if r.errs[b] != nil {
			continue
		}
		p := r.pass
		if p.g != nil {
			p.own = &r.own[b].substitution
		}
		err = notRestored(err, undo(p, 1, func(int) Step[S] { return r.branches[b] }))
	}
	return err
}

// ownCotangents are what a branch has in place of the shared cotangents.
type ownCotangents[T Real] struct {
	substitution
	shared [][]T
	own    []T // the elements of all shared slices, one after the other
}

// substitute sets o up to stand for o.shared, with zeros.
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

// sum adds o to the shared cotangents, which may be those that an enclosing
// branch has in their place.
func (o *ownCotangents[T]) sum() {
	at := 0
	for _, x := range o.shared {
		if len(x) == 0 {
			continue
		}
		if to, _ := o.outer.find(unsafe.Pointer(&x[0]), uintptr(len(x))*unsafe.Sizeof(x[0])); to != nil {
			x = unsafe.Slice((*T)(to), len(x))
		}
		for i := range x {
			x[i] += o.own[at+i]
		}
		at += len(x)
	}
}

// forget drops what points into the state.
func (o *ownCotangents[T]) forget() {
	clear(o.shared)
	o.shared = o.shared[:0]
	clear(o.ranges)
	o.ranges = o.ranges[:0]
	o.outer = nil
}

// A substitution has memory stand for other memory, within one branch.
type substitution struct {
	ranges []span
	outer  *substitution // of the enclosing branch, if there is one
}

// A span is a range of memory and what stands for it.
type span struct {
	from, to unsafe.Pointer
	bytes    uintptr
}

// find returns what stands for the bytes at p, nil if nothing does. split is
// true if something stands for some of them.
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

// substitute has the in operands of the kernel at k that lie in memory which s
// stands for lie in s instead. The kernel must not write such memory itself.
func (l *layout) substitute(k unsafe.Pointer, s *substitution) *OperandError {
	for i := range l.fields {
		f := &l.fields[i]
		var r region
		if err := l.load(i, &r, k, "g."); err != nil {
			return err
		}
		if f.Role == Index || r.bytes == 0 {
			continue
		}
		to, split := s.find(r.data, r.bytes)
		if split || to != nil && f.Role != In {
			return l.wrong(i, "g.", "shares memory with the shared operands of ParallelShared", ErrOverlap)
		}
		if to == nil {
			continue
		}
		p := unsafe.Add(k, f.offset)
		switch n := r.span(); f.Kind {
		case Scalar:
			*(*unsafe.Pointer)(p) = to
		case Slice:
			*(*sliceHeader)(p) = sliceHeader{to, n, n}
		case Vec:
			*(*sliceHeader)(unsafe.Pointer(&(*Vector[byte])(p).Data)) = sliceHeader{to, n, n}
		case Gen:
			*(*sliceHeader)(unsafe.Pointer(&(*General[byte])(p).Data)) = sliceHeader{to, n, n}
		case Sparse:
			*(*sliceHeader)(unsafe.Pointer(&(*sparse)(p).Data)) = sliceHeader{to, n, n}
		}
	}
	return nil
}

// A sliceHeader is a slice of any element type.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}
