package revsparse

import (
	"slices"
	"unsafe"

	"revnum/internal/parallel"
	"revnum/internal/workspace"
	"revnum/rev"
)

const panelBytes = 512 // largest number of bytes of a row of the columns that are handled at a time

// manyColumns makes a pass over matrices of several columns, panel by panel. It goes
// over the rows of a for out and sum, and over the rows of its transpose for w. One of the
// two also computes ga, with the same bits.
func (j *job[T, I]) manyColumns(cols int) {
	whole := j.p
	if whole.w.Data != nil {
		j.transpose(whole.a)
	}
	j.sums = workspace.Zeros(j.sums, mostBlocks)
	var n int
	for lo := 0; lo < cols; lo += n {
		n = min(cols-lo, panelBytes/int(unsafe.Sizeof(T(0))))
		p := whole
		for _, m := range p.dense() {
			if m.Data != nil {
				m.Cols, m.Data = n, m.Data[lo:]
			}
		}
		t := pass[T, I]{a: j.t, out: p.w, alpha: p.beta, outSign: p.wSign, flip: !p.flip, workers: p.workers}
		p.w = rev.General[T]{}
		if t.out.Data != nil && p.ga != nil && p.out.Data == nil && p.sum == nil && n < cols {
			j.tga = workspace.Grow(j.tga, len(p.ga))
			t.v, t.ga, t.gamma = p.u, j.tga, p.gamma
			p.ga = nil
		}
		if p.out.Data != nil || p.ga != nil || p.sum != nil {
			p.u = j.pack(0, p.u)
			if t.out.Data != nil && (p.ga != nil || p.sum != nil) && j.worthPacking(p.v) {
				// The rows of v are packed while a cache holds them.
				j.setPack(1, p.v)
			}
			j.panel(p, stepRows)
		}
		if t.out.Data != nil {
			if t.u = j.to; t.u.Data == nil {
				t.u = j.pack(1, p.v)
			}
			j.to = rev.General[T]{}
			j.of, j.first, j.last = whole, lo == 0, lo+n == cols
			j.panel(t, stepTransposed)
		}
	}
	j.p = whole
	j.addSums()
}

// panel makes a pass without w over one panel of columns.
func (j *job[T, I]) panel(p pass[T, I], of step) {
	j.p, j.step = p, of
	work := (len(p.a.Ind) + p.a.Rows) * max(p.u.Cols, p.v.Cols)
	j.blocks = max(1, min(work/(4*blockWork), mostBlocks))
	workers := min(parallel.Workers(p.workers), j.blocks)
	j.open(workers)
	parallel.Run(workers, j.blocks, j)
}

// transpose makes t the transpose of a, without its values. Usually a has the same
// structure as in the call before, and t is right already.
func (j *job[T, I]) transpose(a CSR[T, I]) {
	t := &j.t
	if t.Rows != a.Cols || !slices.Equal(j.ptr, a.Ptr) || !slices.Equal(j.ind, a.Ind) {
		t.Rows, t.Cols = a.Cols, a.Rows
		t.Ptr, t.Ind, t.Data = workspace.Grow(t.Ptr, a.Cols+1), workspace.Grow(t.Ind, len(a.Ind)), workspace.Grow(t.Data, len(a.Ind))
		j.perm = workspace.Grow(j.perm, len(a.Ind))
		j.ptr, j.ind = append(j.ptr[:0], a.Ptr...), append(j.ind[:0], a.Ind...)
		transpose(t, a, j.perm)
	}
}

// transposedRows handles a block of rows of t. It also copies the values of t, and
// copies ga back, by blocks.
func (j *job[T, I]) transposedRows(s *scratch[T], block int) {
	from, to := j.t.Ptr[j.cut(block)], j.t.Ptr[j.cut(block+1)]
	perm, ga := j.perm[from:to], j.p.ga
	if j.first {
		values, of := j.t.Data[from:to], j.of.a.Data
		for q, p := range perm {
			values[q] = of[p]
		}
		if ga != nil {
			values, of = ga[from:to], j.of.ga
			for q, p := range perm {
				values[q] = of[p]
			}
		}
	}
	j.rows(s, block)
	if j.last && ga != nil {
		values, of := ga[from:to], j.of.ga
		for q, p := range perm {
			of[p] = values[q]
		}
	}
}
