package revsparse

import (
	"slices"
	"unsafe"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/sparse"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revsparse/internal/division"
)

// SpGEMM is the kernel
//
//	C_ij += Σ_l A_il·B_lj  at the entries of C
//
// of sparse matrices. The derivatives, at the entries of each matrix, are
//
//	Ā_il += Σ_j C̄_ij·B_lj,  B̄_lj += Σ_i A_il·C̄_ij,  Ċ += Ȧ·B + A·Ḃ.
//
// SpGEMMPattern makes a C that has an entry wherever the product may have one, and SpGEMMProduct one
// that has the product too. Products
// without an entry in C are skipped. The structure of C must be there, and only C.Data may be
// nil; otherwise the methods panic. If C has two entries of the same place, the
// product is added to the last.
//
// The product is computed row by row (Gustavson 1978, Two Fast Algorithms for Sparse
// Matrices). In floating point a sum of n products is within n·ε·Σ|a_il·b_lj|, and
// likewise in a gradient. In fixed point each product is rounded. The bits do not
// depend on the number of workers. Workers share the rows of A in blocks of about the
// same number of entries. They need two numbers for each column of C and, for B̄,
// numbers for the entries of B that a block meets.
type SpGEMM[T rev.Real, I Index] struct {
	C       CSR[T, I] `rev:"acc" shape:"m,n"`
	A       CSR[T, I] `rev:"in" shape:"m,k"`
	B       CSR[T, I] `rev:"in" shape:"k,n"`
	Workers int       // 0 means GOMAXPROCS
}

// spGEMMRun is Run of SpGEMM. It returns no error.
func spGEMMRun[T rev.Real, I Index](k *SpGEMM[T, I], p *rev.Pass[SpGEMM[T, I]]) error {
	checkOutput[SpGEMM[T, I]](&k.C, "C", k.A.Rows, k.B.Cols)
	CheckOperand[SpGEMM[T, I]](&k.A, "A")
	CheckOperand[SpGEMM[T, I]](&k.B, "B")
	a, b, g, t, gt := k.A.Data, k.B.Data, &p.G, &p.T, &p.GT
	spGEMMSweep(k, spgemmPass[T, I]{c: t.C.Data, a: t.A.Data, b: b, sign: p.Sign()})
	spGEMMSweep(k, spgemmPass[T, I]{c: t.C.Data, a: a, b: t.B.Data, sign: p.Sign()})
	spGEMMSweep(k, spgemmPass[T, I]{gc: gt.C.Data, a: a, b: b, ga: gt.A.Data, gb: gt.B.Data})
	spGEMMSweep(k, spgemmPass[T, I]{gc: g.C.Data, a: t.A.Data, b: t.B.Data, ga: gt.A.Data, gb: gt.B.Data})
	spGEMMSweep(k, spgemmPass[T, I]{c: k.C.Data, a: a, b: b, sign: p.Sign(), gc: g.C.Data, ga: g.A.Data, gb: g.B.Data})
	return nil
}

// A spgemmPass is a pass over the rows of A, in progress, that computes
//
//	c_ij += Σ_l a_il·b_lj,  ga_il += Σ_j gc_ij·b_lj,  gb_lj += Σ_i a_il·gc_ij
//
// for values at the entries of C, A and B. Nil results are skipped. If sign is negative, the
// first is subtracted.
type spgemmPass[T rev.Real, I Index] struct {
	k          SpGEMM[T, I]
	c, a, b    []T
	gc, ga, gb []T
	sign       int
	blocks     int
	combine    bool
	windows    []window[T] // of gb, one for each block
	scratch    []spgemmScratch[T]
}

// spgemmScratch is the scratch of a worker, by columns of C: the sums of a row, and the
// elements of a row of gc, which are absent if C has no entry. Between rows all are
// absent.
type spgemmScratch[T rev.Real] struct{ sum, g []T }

func spGEMMSweep[T rev.Real, I Index](k *SpGEMM[T, I], call spgemmPass[T, I]) {
	if call.a == nil || call.b == nil {
		call.c = nil
	}
	if call.gc == nil || call.b == nil {
		call.ga = nil
	}
	if call.gc == nil || call.a == nil {
		call.gb = nil
	}
	gradient := call.ga != nil || call.gb != nil
	if call.c == nil && !gradient || len(k.A.Ind) == 0 || len(k.B.Ind) == 0 || len(k.C.Ind) == 0 {
		return
	}
	w := workspace.Get[*spgemmPass[T, I]]()
	call.k, call.windows, call.scratch = *k, w.windows, w.scratch
	*w = call
	w.blocks = max(1, min((len(k.A.Ind)+len(k.C.Ind))/blockWork, mostBlocks))
	if w.gb != nil {
		w.openWindows()
	}
	workers := min(parallel.Workers(k.Workers), w.blocks)
	if w.ga != nil && w.gb != nil && &w.ga[0] == &w.gb[0] {
		workers = 1 // the gradients overlap
	}
	w.scratch = workspace.Grow(w.scratch, max(len(w.scratch), workers))
	for i := range w.scratch[:workers] {
		s := &w.scratch[i]
		if w.c != nil {
			s.sum = workspace.Grow(s.sum, k.C.Cols)
		}
		if n := len(s.g); gradient && n < k.C.Cols {
			s.g = append(s.g, slices.Repeat([]T{absentMark[T]()}, k.C.Cols-n)...)
		}
	}
	parallel.Run(workers, w.blocks, w)
	if w.gb != nil {
		w.combine = true
		parallel.Run(workers, (len(k.B.Ind)+joinColumns-1)/joinColumns, w)
	}
	*w = spgemmPass[T, I]{windows: w.windows, scratch: w.scratch}
	workspace.Put(w)
}

// openWindows opens a window of gb for each block.
func (w *spgemmPass[T, I]) openWindows() {
	a, b := &w.k.A, &w.k.B
	most := mostWindows
	if reached(a.Ind) > b.Rows/mostWindows { // a window would be about as large as gb
		most = max(2, min(most, len(a.Ind)/(windowReads*b.Rows)))
	}
	w.blocks = min(w.blocks, most)
	w.windows = workspace.Grow(w.windows, max(len(w.windows), w.blocks))
	for n := range w.windows[:w.blocks] {
		w.windows[n].open(len(w.gb))
	}
}

// target returns what a block adds to for the rows of A from i to to-1. It is gb itself
// if they meet only rows of B that are the block's own, as most rows of a banded matrix
// do, and otherwise the window.
func (w *spgemmPass[T, I]) target(block, i, to int) []T {
	a, b := &w.k.A, &w.k.B
	ind := a.Ind[a.Ptr[i]:a.Ptr[to]]
	if w.gb == nil || len(ind) == 0 {
		return w.gb
	}
	own := func(block int) int { return int(uint64(w.cut(block)) * uint64(b.Rows) / uint64(a.Rows)) }
	if lo, hi := sparse.IndexRange(ind); own(block) <= int(lo) && int(hi) < own(block+1) {
		return w.gb
	}
	win := &w.windows[block]
	for _, l := range ind {
		if from, to := b.Ptr[l], b.Ptr[l+1]; from < to {
			win.span(int(from), int(to)-1, nil)
		}
	}
	return win.all
}

// cut returns the first row of a block.
func (w *spgemmPass[T, I]) cut(block int) int {
	return division.FirstRow(block, w.blocks, w.k.A.Rows, w.k.A.Ptr, w.k.C.Ptr)
}

// spgemmRows is how many rows a block handles at a time. Their entries stay in a cache
// from the product to the gradients.
const spgemmRows = 256

// Block handles a block of rows of A and C, or of the entries of B.
func (w *spgemmPass[T, I]) Block(worker, block int) {
	if w.combine {
		lo := block * joinColumns
		joinWindows(w.windows[:w.blocks], w.gb, lo, min(lo+joinColumns, len(w.gb)))
		return
	}
	s, last := &w.scratch[worker], w.cut(block+1)
	for i := w.cut(block); i < last; i += spgemmRows {
		to := min(i+spgemmRows, last)
		w.rows(s, i, to, w.target(block, i, to))
	}
}

var vectors = cpu.InUse() != cpu.Generic

// rows handles rows i to to-1, with the cotangent of B in gb.
func (w *spgemmPass[T, I]) rows(s *spgemmScratch[T], i, to int, gb []T) {
	for i < to {
		n := 0
		if vectors {
			switch w := any(w).(type) {
			case *spgemmPass[float64, I]:
				n = vectorSpGEMM(w, any(s).(*spgemmScratch[float64]), i, to, any(gb).([]float64))
			case *spgemmPass[float32, I]:
				n = vectorSpGEMM(w, any(s).(*spgemmScratch[float32]), i, to, any(gb).([]float32))
			}
		}
		if n == 0 {
			n = 1
			if w.c != nil {
				w.productRow(s.sum, i)
			}
			if w.ga != nil || gb != nil {
				w.gradientRow(s.g, i, gb)
			}
		}
		i += n
	}
}

// vectorSpGEMM handles some of the rows of rows, and returns how many.
func vectorSpGEMM[T rev.Float, I Index](w *spgemmPass[T, I], s *spgemmScratch[T], i, to int, gb []T) int {
	a, b, c := &w.k.A, &w.k.B, &w.k.C
	v := sparse.SpGEMM[T, I]{
		CPtr: c.Ptr, CInd: c.Ind, APtr: a.Ptr, AInd: a.Ind, BPtr: b.Ptr, BInd: b.Ind, Cols: c.Cols,
		C: w.c, A: w.a, B: w.b, Sign: number.Signed[T](w.sign, 1), GC: w.gc, GA: w.ga, GB: gb, Sums: s.sum, W: s.g,
	}
	return v.Rows(i, to)
}

func (w *spgemmPass[T, I]) productRow(sum []T, i int) {
	a, b, c := &w.k.A, &w.k.B, &w.k.C
	cols, row := c.Ind[c.Ptr[i]:c.Ptr[i+1]], w.c[c.Ptr[i]:c.Ptr[i+1]]
	for _, j := range cols {
		sum[j] = 0
	}
	// Sums of columns that the row of C does not have are ignored.
	for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
		x, l := w.a[p], a.Ind[p]
		ind, v := b.Ind[b.Ptr[l]:b.Ptr[l+1]], w.b[b.Ptr[l]:b.Ptr[l+1]]
		v = v[:len(ind)]
		for q, j := range ind {
			sum[j] += fixed.Product(x, v[q])
		}
	}
	// Backward, so that the last entry of a place gets everything.
	for p := len(cols) - 1; p >= 0; p-- {
		j := cols[p]
		row[p] += number.Signed(w.sign, sum[j])
		sum[j] = 0
	}
}

func (w *spgemmPass[T, I]) gradientRow(g []T, i int, gb []T) {
	a, b, c := &w.k.A, &w.k.B, &w.k.C
	g = g[:c.Cols] // an earlier call may have left more
	cols, row := c.Ind[c.Ptr[i]:c.Ptr[i+1]], w.gc[c.Ptr[i]:c.Ptr[i+1]]
	for p, j := range cols {
		g[j] = row[p]
	}
	for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
		from, to := b.Ptr[a.Ind[p]], b.Ptr[a.Ind[p]+1]
		ind := b.Ind[from:to]
		if gb != nil {
			x, gb := w.a[p], gb[from:to]
			for q, j := range ind {
				if y := g[j]; !isAbsent(y) {
					gb[q] += fixed.Product(x, y)
				}
			}
		}
		if w.ga != nil {
			var sum T
			v := w.b[from:to]
			for q, j := range ind {
				if y := g[j]; !isAbsent(y) {
					sum += fixed.Product(y, v[q])
				}
			}
			w.ga[p] += sum
		}
	}
	for _, j := range cols {
		g[j] = absentMark[T]()
	}
}

// absentMark returns a mark for no number: a NaN that no operation returns. In fixed point
// it is 0, where it makes no difference.
func absentMark[T rev.Real]() T {
	switch {
	case number.IsFixed[T]():
		return 0
	case unsafe.Sizeof(T(0)) == 4:
		return number.As[T](uint32(sparse.Absent32))
	}
	return number.As[T](uint64(sparse.Absent64))
}

func isAbsent[T rev.Real](x T) bool {
	switch {
	case number.IsFixed[T]():
		return false
	case unsafe.Sizeof(x) == 4:
		return number.As[uint32](x) == sparse.Absent32
	}
	return number.As[uint64](x) == sparse.Absent64
}
