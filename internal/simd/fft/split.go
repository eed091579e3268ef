package fft

import (
	"math"
	"unsafe"

	"revnum/internal/parallel"
	"revnum/internal/simd/cpu"
)

// A split transforms n = inner.n·outer.n numbers by the method of the package's comment. If
// outer.n is 1, there is a single column.
type split struct {
	lanes        int
	scale        float64 // 1/√n
	inner, outer columns

	// The twiddles are a product of two, so that the tables are small: w^(kq) for row k and
	// column q = first + l, where l is the column of a lane in a group that begins with first.
	ofLanes []float64 // block k has scale·w^(kl)
	ofRows  []float64 // pair k + max(inner.n, lanes)·g has w^(k·first) for group g
}

func newSplit(n1, n2 int) *split {
	n := n1 * n2
	s := &split{lanes: cpu.Lanes[float64](tier), scale: 1 / math.Sqrt(float64(n)), inner: newColumns(n1, tier)}
	if n2 == 1 {
		s.outer.n = 1
		return s
	}
	s.outer = newColumns(n2, tier)
	t, pad := newRoots(n), max(n1, s.lanes)
	s.ofLanes, s.ofRows = aligned(nil, pad*2*s.lanes), make([]float64, 2*pad*groups(n2, s.lanes))
	for k := range n1 {
		for lane := range s.lanes {
			w, at := t.at(k*(lane/2+lane%2*s.lanes/2)), k*2*s.lanes+lane
			s.ofLanes[at], s.ofLanes[at+s.lanes] = s.scale*real(w), s.scale*imag(w)
		}
		for g := range groups(n2, s.lanes) {
			w, at := t.at(k*first(g, n2, s.lanes)), 2*(k+pad*g)
			s.ofRows[at], s.ofRows[at+1] = real(w), imag(w)
		}
	}
	return s
}

// groups returns the number of groups of n columns.
func groups(n, lanes int) int { return (n + lanes - 1) / lanes }

// first returns the first column of group g. The last group repeats columns of the group before it
// if the columns do not fill it.
func first(g, n, lanes int) int { return max(0, min(g*lanes, n-lanes)) }

// blockGroups is the least number of groups of a block of work, unless there are fewer. Groups
// that share columns are therefore in one block.
const blockGroups = 4

func blocks(n, lanes int) int { return max(1, groups(n, lanes)/blockGroups) }

// leastParallel is the least length for which workers share the work.
const leastParallel = 1 << 14

// A step is a step of a split in progress. It implements parallel.Task.
type step struct {
	split   *split
	outer   bool
	src     []complex128
	dst     []complex128 // may be src
	back    int
	buffers []buffer // of workers

	// turned has what the inner step leaves: group g of columns of the outer step from block
	// g·max(outer.n, lanes) on.
	turned []float64
}

// run stores the transform of src in dst, which may be src.
func (s *split) run(w *step, dst, src []complex128, back bool, workers int) {
	if len(src) < leastParallel {
		workers = 1
	}
	workers = parallel.Workers(workers)
	if len(w.buffers) < workers {
		w.buffers = append(w.buffers, make([]buffer, workers-len(w.buffers))...)
	}
	for i := range workers {
		w.buffers[i].grow(max(s.inner.n, s.outer.n), s.lanes)
	}
	w.turned = aligned(w.turned, 2*s.lanes*groups(s.inner.n, s.lanes)*max(s.outer.n, s.lanes))

	w.split, w.dst, w.src, w.back, w.outer = s, dst, src, flag(back), false
	parallel.Run(workers, blocks(s.outer.n, s.lanes), w)
	if s.outer.n > 1 {
		w.outer = true
		parallel.Run(workers, blocks(s.inner.n, s.lanes), w)
	}
	w.split, w.dst, w.src = nil, nil, nil
}

// Block implements parallel.Task.
func (w *step) Block(worker, block int) {
	s := w.split
	n := s.outer.n
	if w.outer {
		n = s.inner.n
	}
	all, of := groups(n, s.lanes), blocks(n, s.lanes)
	for g := block * all / of; g < (block+1)*all/of; g++ {
		if w.outer {
			w.transformRows(&w.buffers[worker], g)
		} else {
			w.transformColumns(&w.buffers[worker], g)
		}
	}
}

// transformColumns transforms group g of columns of src, and turns them.
func (w *step) transformColumns(b *buffer, g int) {
	s := w.split
	n, cols := s.inner.n, s.outer.n
	q := first(g, cols, s.lanes)
	src := s.inner.load(b, &w.src[q], min(cols, s.lanes), cols, w.back)
	if cols == 1 {
		vectorStore(&w.dst[0], src, n, 1, 1, w.back, s.scale)
		return
	}
	block, rows, tw := 2*s.lanes, max(cols, s.lanes), s.ofRows[2*max(n, s.lanes)*g:]
	whole := n / s.lanes
	if whole > 0 {
		vectorTurn(&w.turned[block*q], src, &s.ofLanes[0], &tw[0], whole, rows)
	}
	if n%s.lanes != 0 {
		k := first(whole, n, s.lanes)
		src = (*float64)(unsafe.Add(unsafe.Pointer(src), 8*block*k))
		vectorTurn(&w.turned[block*(q+whole*rows)], src, &s.ofLanes[block*k], &tw[2*k], 1, rows)
	}
}

// transformRows transforms group g of what transformColumns turned.
func (w *step) transformRows(b *buffer, g int) {
	s := w.split
	n, cols := s.outer.n, s.inner.n
	src := &w.turned[2*s.lanes*g*max(n, s.lanes)]
	s.outer.store(b, &w.dst[first(g, cols, s.lanes)], src, min(cols, s.lanes), cols, w.back)
}
