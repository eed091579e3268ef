package revsparse

import (
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

const fewColumns = 16 // at most

// fewColumns makes a pass over matrices of a few columns of floats, with w.
func (j *job[T, I]) fewColumns(cols int) {
	p := &j.p
	most := max(2, min(mostWindows, len(p.a.Ind)/(windowReads*p.a.Cols)))
	// The number of columns does not matter here, or the bits of a column would depend
	// on it.
	j.blocks = max(1, min((len(p.a.Ind)+p.a.Rows)/blockWork, most))
	j.windows = workspace.Grow(j.windows, max(len(j.windows), j.blocks))
	all := reached(p.a.Ind) > p.a.Cols/2
	for b := range j.windows[:j.blocks] {
		w := &j.windows[b]
		w.open(p.a.Cols * cols)
		switch {
		case !all:
			w.own0, w.own1 = cols*j.columnOf(j.cut(b)), cols*j.columnOf(j.cut(b+1))
		case b == 0: // few pieces would meet no columns but those of their block
			w.own1 = p.a.Cols * cols
		}
	}
	workers := parallel.Workers(p.workers)
	j.open(min(workers, j.blocks))
	j.sums = workspace.Zeros(j.sums, j.blocks)
	j.step = stepRows
	parallel.Run(workers, j.blocks, j)
	j.step = stepAddWindowRows
	parallel.Run(workers, (p.a.Cols+chunk-1)/chunk, j)
	j.addSums()
}

// addWindowRows adds the windows to a block of rows of w. The block begins with a
// chunk.
func (j *job[T, I]) addWindowRows(block int) {
	w := j.p.w
	from, to := block*chunk, min(w.Rows, (block+1)*chunk)
	if w.Stride == w.Cols {
		joinWindows(j.windows[:j.blocks], w.Data, from*w.Cols, to*w.Cols)
		return
	}
	for i := from; i < to; i++ {
		for b := range j.windows[:j.blocks] {
			win := &j.windows[b]
			// If entries met a row, its chunk was met.
			if lo, hi := i*w.Cols, (i+1)*w.Cols; win.met[lo/chunk] && win.met[(hi-1)/chunk] {
				vector.Axpy(number.One[T](), rev.ViewSlice(win.all[lo:hi]), vector.Row(w, i))
			}
		}
	}
}
