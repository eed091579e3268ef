package rules

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
	"unsafe"

	"revnum/internal/parallel"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/rules/internal/catalog"
)

// CallEach makes a pass over each of n problems, as n calls of Call do. Problems have the same shapes,
// parameters and structure of sparse matrices. a has the first of them, and Buffer.Move of each operand and
// derivative says where those of the others are. CallEach checks the first problem and no other, so an operand
// that is written must overlap no operand of any problem. It returns an error if all problems share one.
//
// Workers share the problems if these take long together: as many as the parameter Workers says, if there is one.
// If problems have errors, CallEach returns that of the first of these. The problems before it are then done, and
// others may be.
func (r *Rule) CallEach(p Pass, a Args, n int) error {
	if err := r.zeroable(&a); err != nil {
		return err
	}
	if n > 1 {
		if err := cmp.Or(r.callable(p), r.written(&a)); err != nil {
			return err
		}
	}
	workers := 0
	if i := slices.IndexFunc(r.Params, func(p Param) bool { return p.Name == "Workers" }); i >= 0 && i < len(a.Params) {
		workers = int(a.Params[i])
	}
	if n <= 1 || workers < 0 || r.InPlace && p == Gradient || r.movesStructure(&a) {
		return r.callOneByOne(p, a, n)
	}
	w := workspace.Get[*each]()
	w.rule, w.pass, w.args, w.n, w.failed = r, p, a, n, n
	w.atOnce = zeroBytes / max(1, a.zeroed())
	took := 0.0 // by a problem, in nanoseconds
	w.done, w.size = 0, 1
	some := forkBytes / max(1, a.moved())
	long := n > some
	for steady := 0; !long && w.done < n && w.err == nil && steady < 2; { // one may be slow by an interrupt, or as it is the first
		start := time.Now()
		hi := min(n, w.done+w.size)
		w.run(w.done, hi)
		elapsed := max(1, time.Since(start))
		took = float64(elapsed) / float64(hi-w.done)
		if w.done = hi; elapsed < blockTime/4 {
			steady, w.size = 0, w.size*int(min(64, 1+blockTime/4/elapsed)) // few short problems are to go in pieces that are small for loops over rows
		} else {
			steady++
		}
	}
	if left := n - w.done; left > 0 && w.err == nil {
		if workers == 0 && !long && float64(left)*took < float64(forkTime) {
			workers = 1
		}
		workers = parallel.Workers(workers)
		size := left / (8 * workers) // workers that begin late, or are slow, then do fewer
		if !long {
			if most := int(min(float64(left), float64(blockTime)/took)); workers == 1 || size > most {
				size = most
			}
		}
		w.size = min(left, max(w.size, size))
		if long {
			w.atOnce = min(w.atOnce, max(1, some))
		}
		parallel.Run(workers, (left-1)/w.size+1, w)
	}
	err := w.err
	w.rule, w.args, w.err = nil, Args{}, nil
	workspace.Put(w)
	return err
}

// blockTime is about how long a block of problems takes. If workers share few problems, they
// take less, but a quarter of it at least. Problems that move much memory may take longer. Tests change it.
var blockTime = 20 * time.Microsecond

// forkTime is how long all must take for a second worker, which may have to be woken up.
const forkTime = 100 * time.Microsecond

// forkBytes is memory that no worker reads or writes in less than forkTime.
const forkBytes = 4 << 20

// An each is a call of CallEach in progress.
type each struct {
	rule *Rule
	pass Pass
	args Args
	n    int
	done int // problems that the caller has done, to see how long they take
	size int // of a block of the others

	atOnce int // problems of a loop, whose memory is set to zero before it, if there is such memory

	mu     sync.Mutex
	failed int // the first problem with an error, n if there is none
	err    error
}

// Block works on the problems of a block.
func (w *each) Block(_, b int) {
	lo := w.done + b*w.size
	w.run(lo, min(w.n, lo+w.size))
}

// run makes the passes over the problems from lo to hi-1.
func (w *each) run(lo, hi int) {
	for n := max(1, w.atOnce); lo < hi; lo += n {
		parallel.CheckInterrupt()
		if i, err := w.rule.callRange(w.pass, &w.args, lo, min(hi, lo+n)); err != nil {
			w.fail(i, err)
			return
		}
	}
}

// fail keeps the error of problem i.
func (w *each) fail(i int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i < w.failed {
		w.failed, w.err = i, ofProblem(i, w.n, err)
	}
}

// callRange makes a pass over the problems from lo to hi-1. It returns the first error, and the number of its
// problem.
func (r *Rule) callRange(p Pass, a *Args, lo, hi int) (at int, err error) {
	f := r.frames.Get().(catalog.Frame)
	m := workspace.Get[*mover]()
	defer func() {
		at = lo + m.at
		m.data = m.data[:0]
		workspace.Put(m)
	}()
	defer r.end(f, &err)
	m.at = 0
	if err := r.set(f, a); err != nil {
		return lo, err
	}
	a.zero(lo, hi)
	for part := range catalog.Part(catalog.NumParts) {
		if !p.takes(part) {
			continue // the frame forgets it
		}
		for i, b := range a.part(part) {
			if o := &r.Operands[i]; b.Move != 0 && b.Data != nil && (part == catalog.Primal || o.role != rev.Index) {
				data := (*unsafe.Pointer)(unsafe.Add(f.At(part), o.offset+dataOffset(o.kind)))
				*data = unsafe.Add(*data, lo*b.Move)
				m.data = append(m.data, moved{data, b.Move})
			}
		}
	}
	if m.step == nil {
		m.step = m.move
	}
	return lo, f.RunEach(p.String(), hi-lo, m.step, &m.at)
}

// takes reports whether the pass takes a part of a frame.
func (p Pass) takes(part catalog.Part) bool {
	adjoint, tangent := p == Adjoint || p == AdjointTangent || p == Gradient, p == Tangent || p == AdjointTangent
	switch part {
	case catalog.Cotangent:
		return adjoint
	case catalog.Tangent:
		return tangent
	case catalog.CotangentTangent:
		return adjoint && tangent
	}
	return true
}

// A mover moves the operands in a frame to those of other problems.
type mover struct {
	data []moved
	at   int          // which problem runs
	step func(by int) // move, made once
}

// moved is where a frame has the address of the data of an operand, and how many bytes it moves.
type moved struct {
	data *unsafe.Pointer
	by   int
}

func (m *mover) move(by int) {
	for _, d := range m.data {
		*d.data = unsafe.Add(*d.data, by*d.by)
	}
}

// dataOffset is where an operand of a kind has the address of its data.
func dataOffset(k rev.Kind) uintptr {
	switch k {
	case rev.Vec:
		return unsafe.Offsetof(vectorHeader{}.Data)
	case rev.Gen:
		return unsafe.Offsetof(matrixHeader{}.Data)
	case rev.Sparse:
		return unsafe.Offsetof(sparseHeader{}.Data)
	}
	return 0 // the operand is a pointer or a slice
}

// zeroBytes is how much memory is set to zero at once. Passes then find it in the cache, where a long
// vector would be written to memory and read again.
const zeroBytes = 1 << 16

// zeroed returns how many bytes of a problem are set to zero.
func (a *Args) zeroed() (bytes int) {
	for part := range catalog.Part(catalog.NumParts) {
		for _, b := range a.part(part) {
			bytes += b.zeroed()
		}
	}
	return bytes
}

// moved returns how many bytes a problem has for itself.
func (a *Args) moved() (bytes int) {
	for part := range catalog.Part(catalog.NumParts) {
		for _, b := range a.part(part) {
			if b.Move != 0 {
				bytes += b.bytes()
			}
		}
	}
	return bytes
}

func (b *Buffer) zeroed() int {
	if !b.Zero {
		return 0
	}
	return b.bytes()
}

// bytes returns how many bytes the elements take, or 0 if there are none or their type is wrong.
func (b *Buffer) bytes() int {
	if b.Data == nil || b.Type < Float64 || b.Type > Int {
		return 0
	}
	return b.size() * int(b.Type.size())
}

// zeroable returns an error if memory that is set to zero has gaps, is shorter than its operand, or meets that of
// another problem.
func (r *Rule) zeroable(a *Args) error {
	for part := range catalog.Part(catalog.NumParts) {
		for i, b := range a.part(part) {
			if !b.Zero || b.Data == nil || i >= len(r.Operands) || b.Axes < 0 || b.Axes > len(b.Shape) {
				continue // no memory to set, or set refuses it
			}
			rows, cols := 1, 1
			if b.Axes > 0 && !b.Sparse {
				cols = b.Shape[b.Axes-1]
			}
			if b.Axes > 1 && !b.Sparse {
				rows = b.Shape[0]
			}
			dense := b.Sparse || b.Axes == 0 || rows == 0 || cols == 0 || (cols <= 1 || b.Stride[b.Axes-1] == 1) && (rows <= 1 || b.Stride[0] == cols)
			fits := b.Sparse || rows >= 0 && cols >= 0 && (cols == 0 || rows <= b.Len/cols)
			if !dense || !fits || b.Move != 0 && max(b.Move, -b.Move) < b.zeroed() {
				return fmt.Errorf("%w: %s%s of %s is set to zero, so it must have no gaps, and its memory must hold it and meet no other problem's",
					ErrArgument, partPrefix[part], r.Operands[i].Name, r.Name)
			}
		}
	}
	return nil
}

// zero sets memory of the problems from lo to hi-1 to zero.
func (a *Args) zero(lo, hi int) {
	for part := range catalog.Part(catalog.NumParts) {
		for _, b := range a.part(part) {
			size := b.zeroed()
			if size == 0 || lo == hi {
				continue
			}
			if b.Move == size { // one problem comes after the other
				clear(unsafe.Slice((*byte)(unsafe.Add(b.Data, lo*b.Move)), (hi-lo)*size))
				continue
			}
			for i := lo; i < hi; i++ {
				clear(unsafe.Slice((*byte)(unsafe.Add(b.Data, i*b.Move)), size))
			}
		}
	}
}

// callOneByOne is CallEach with n calls.
func (r *Rule) callOneByOne(p Pass, a Args, n int) error {
	for i := range n {
		if err := r.call(p, &a, true); err != nil {
			return ofProblem(i, n, err)
		}
		if i+1 == n {
			break
		}
		for _, list := range []*[]Buffer{&a.Operands, &a.Cotangents, &a.Tangents, &a.CotangentTangents} {
			*list = slices.Clone(*list)
			for j := range *list {
				if b := &(*list)[j]; b.Move != 0 {
					b.Data = unsafe.Add(b.Data, b.Move)
				}
			}
		}
	}
	return nil
}

// written returns an error if all problems share an operand that passes write.
func (r *Rule) written(a *Args) error {
	for part := range catalog.Part(catalog.NumParts) {
		list := a.part(part)
		for i := range min(len(list), len(r.Operands)) {
			b, o, cotangent := &list[i], &r.Operands[i], part == catalog.Cotangent || part == catalog.CotangentTangent
			written := o.role == rev.InOut || o.role == rev.Acc && !cotangent || o.role == rev.In && cotangent
			if written && b.Move == 0 && b.Data != nil && b.size() > 0 {
				return fmt.Errorf("%w: %s%s of %s is written, and shared by all problems", ErrArgument, partPrefix[part], o.Name, r.Name)
			}
		}
	}
	return nil
}

// ofProblem says which of n problems has an error.
func ofProblem(i, n int, err error) error {
	if n == 1 {
		return err
	}
	return fmt.Errorf("problem %d of %d: %w", i, n, err)
}

// movesStructure reports whether problems have other arrays for a field that is made from arrays.
func (r *Rule) movesStructure(a *Args) bool {
	for i := range min(len(a.Operands), len(r.Operands)) {
		if r.Operands[i].structure && a.Operands[i].Move != 0 {
			return true
		}
	}
	return false
}
