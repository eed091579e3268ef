package revsparse

import (
	"fmt"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/parallel"
	"revnum/internal/workspace"
	"revnum/rev"
)

// SpGEMM is the kernel
//
//	C_ij += Σ_l A_il·B_lj  at the entries of C
//
// of sparse matrices, with the derivatives, at the entries of each,
//
//	Ā_il += Σ_j C̄_ij·B_lj,  B̄_lj += Σ_i A_il·C̄_ij,  Ċ += Ȧ·B + A·Ḃ.
//
// SpGEMMPattern makes a C that has an entry wherever the product may have one; of
// another C, products that it has no entry for are left out. Where C has two entries
// of the same place, the product goes into the last.
//
// In floating point a sum of n products is within n·ε·Σ|a_il·b_lj|. In fixed point
// each product is rounded. The bits do not depend on the number of workers, who share
// the rows of A in blocks of about as many entries each. They need a number and an
// index for each column of C, and, for B̄, numbers for the entries of B that a
// block meets.
type SpGEMM[T rev.Real, I Index] struct {
	C       CSR[T, I] `rev:"acc"`
	A       CSR[T, I] `rev:"in"`
	B       CSR[T, I] `rev:"in"`
	Workers int       // 0 means GOMAXPROCS
}

// SpGEMMPattern returns the zero matrix with the entries, sorted, that the product
// of a and b may have. It is an error if indices of type I do not count them.
func SpGEMMPattern[T any, I Index](a, b CSR[T, I]) (CSR[T, I], error) {
	a.check()
	b.check()
	if a.Cols != b.Rows {
		panic(mat.ErrShape)
	}
	c := CSR[T, I]{Rows: a.Rows, Cols: b.Cols, Ptr: make([]I, 1, a.Rows+1)}
	seen := make([]int, b.Cols) // the last row that had the column, counted from 1
	for i := range a.Rows {
		from := len(c.Ind)
		for _, l := range a.Ind[a.Ptr[i]:a.Ptr[i+1]] {
			for _, j := range b.Ind[b.Ptr[l]:b.Ptr[l+1]] {
				if seen[j] <= i {
					seen[j] = i + 1
					c.Ind = append(c.Ind, j)
				}
			}
		}
		if !fits[I](len(c.Ind)) {
			return CSR[T, I]{}, fmt.Errorf("revsparse: the product has more entries than %T counts, %d in the first %d rows", I(0), len(c.Ind), i+1)
		}
		slices.Sort(c.Ind[from:])
		c.Ptr = append(c.Ptr, I(len(c.Ind)))
	}
	c.Data = make([]T, len(c.Ind))
	return c, nil
}

func (k *SpGEMM[T, I]) check() {
	rev.Check(k)
	k.C.check()
	k.A.check()
	k.B.check()
	if k.C.Rows != k.A.Rows || k.A.Cols != k.B.Rows || k.C.Cols != k.B.Cols {
		panic(mat.ErrShape)
	}
}

// product computes c += a·b, or -= if sub, for the values of C, A and B, unless one
// is nil.
func (k *SpGEMM[T, I]) product(c, a, b []T, sub bool) {
	if c != nil && a != nil && b != nil {
		k.run(spgemm[T, I]{cv: c, av: a, bv: b, sub: sub})
	}
}

// addGradient adds to ga and gb the cotangents of a and b, gc being that of C. It
// leaves out what is nil.
func (k *SpGEMM[T, I]) addGradient(gc, a, b, ga, gb []T) {
	if b == nil {
		ga = nil
	}
	if a == nil {
		gb = nil
	}
	if gc != nil && (ga != nil || gb != nil) {
		k.run(spgemm[T, I]{gc: gc, av: a, bv: b, ga: ga, gb: gb})
	}
}

// Forward computes C += A·B.
func (k SpGEMM[T, I]) Forward() {
	k.check()
	k.product(k.C.Data, k.A.Data, k.B.Data, false)
}

// Inverse computes C -= A·B.
func (k SpGEMM[T, I]) Inverse() {
	k.check()
	k.product(k.C.Data, k.A.Data, k.B.Data, true)
}

// Adjoint computes C -= A·B and the cotangents of A and B.
func (k SpGEMM[T, I]) Adjoint(g SpGEMM[T, I]) {
	k.check()
	rev.CheckLike(&k, &g)
	k.product(k.C.Data, k.A.Data, k.B.Data, true)
	k.addGradient(g.C.Data, k.A.Data, k.B.Data, g.A.Data, g.B.Data)
}

// Tangent computes C += A·B and Ċ += Ȧ·B + A·Ḃ.
func (k SpGEMM[T, I]) Tangent(t SpGEMM[T, I]) {
	k.check()
	rev.CheckLike(&k, &t)
	k.product(k.C.Data, k.A.Data, k.B.Data, false)
	k.product(t.C.Data, t.A.Data, k.B.Data, false)
	k.product(t.C.Data, k.A.Data, t.B.Data, false)
}

// AdjointTangent computes what Adjoint does, takes back the tangent of C, and adds
// the tangents of the cotangents of A and B.
func (k SpGEMM[T, I]) AdjointTangent(g, t, gt SpGEMM[T, I]) {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	k.product(t.C.Data, t.A.Data, k.B.Data, true)
	k.product(t.C.Data, k.A.Data, t.B.Data, true)
	k.addGradient(gt.C.Data, k.A.Data, k.B.Data, gt.A.Data, gt.B.Data)
	k.addGradient(g.C.Data, t.A.Data, t.B.Data, gt.A.Data, gt.B.Data)
	k.product(k.C.Data, k.A.Data, k.B.Data, true)
	k.addGradient(g.C.Data, k.A.Data, k.B.Data, g.A.Data, g.B.Data)
}

// spgemm is a product or a gradient in progress.
type spgemm[T rev.Real, I Index] struct {
	k          SpGEMM[T, I]
	cv, av, bv []T
	gc, ga, gb []T
	sub        bool
	blocks     int
	combine    bool
	windows    []window[T] // of gb, one for each block
	scratch    []spgemmScratch[T, I]
}

// spgemmScratch is what a worker needs for its own, by columns of C.
type spgemmScratch[T rev.Real, I Index] struct {
	at  []I // where the entry of C is
	sum []T
}

func (k *SpGEMM[T, I]) run(call spgemm[T, I]) {
	if len(k.A.Ind) == 0 || len(k.B.Ind) == 0 || len(k.C.Ind) == 0 {
		return
	}
	w := workspace.Get[spgemm[T, I]]()
	call.k, call.windows, call.scratch = *k, w.windows, w.scratch
	*w = call
	w.blocks = max(1, min((len(k.A.Ind)+len(k.C.Ind))/blockWork, mostBlocks))
	if w.gb != nil {
		w.blocks = min(w.blocks, mostWindows)
		for len(w.windows) < w.blocks {
			w.windows = append(w.windows, window[T]{})
		}
		for b := range w.windows[:w.blocks] {
			w.windows[b].open(len(k.B.Ind))
		}
	}
	workers := min(parallel.Workers(k.Workers), w.blocks)
	if w.ga != nil && w.gb != nil && &w.ga[0] == &w.gb[0] {
		workers = 1 // the gradient of B is not apart before it is combined
	}
	for len(w.scratch) < workers {
		w.scratch = append(w.scratch, spgemmScratch[T, I]{})
	}
	for i := range w.scratch[:workers] {
		s := &w.scratch[i]
		s.at, s.sum = workspace.Grow(s.at, k.C.Cols), workspace.Grow(s.sum, k.C.Cols)
	}
	parallel.Run(workers, w.blocks, w)
	if w.gb != nil {
		w.combine = true
		parallel.Run(workers, (len(k.B.Ind)+combined-1)/combined, w)
	}
	*w = spgemm[T, I]{windows: w.windows, scratch: w.scratch}
	workspace.Put(w)
}

// cut returns the first row of a block.
func (w *spgemm[T, I]) cut(block int) int {
	a, c := &w.k.A, &w.k.C
	if block == w.blocks {
		return a.Rows
	}
	at := (len(a.Ind) + len(c.Ind)) / w.blocks * block
	return sort.Search(a.Rows, func(i int) bool { return int(a.Ptr[i])+int(c.Ptr[i]) >= at })
}

// Block does a block of rows of A and C, or of the entries of B.
func (w *spgemm[T, I]) Block(worker, block int) {
	if w.combine {
		lo := block * combined
		combineWindows(w.windows[:w.blocks], w.gb, lo, min(lo+combined, len(w.gb)))
		return
	}
	for i := w.cut(block); i < w.cut(block+1); i++ {
		if w.gc == nil {
			w.productRow(&w.scratch[worker], i)
		} else {
			w.gradientRow(&w.scratch[worker], block, i)
		}
	}
}

// note has s.at tell where the entries of row i of C are, and returns the first and
// the one behind the last. An entry of s.at is of another row, or what a call before
// has left, unless it is between these and of its column.
func (w *spgemm[T, I]) note(s *spgemmScratch[T, I], i int) (lo, hi I) {
	c := &w.k.C
	lo, hi = c.Ptr[i], c.Ptr[i+1]
	for p := lo; p < hi; p++ {
		s.at[c.Ind[p]] = p
		s.sum[c.Ind[p]] = 0
	}
	return lo, hi
}

func (w *spgemm[T, I]) productRow(s *spgemmScratch[T, I], i int) {
	a, b, c := &w.k.A, &w.k.B, &w.k.C
	lo, hi := w.note(s, i)
	for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
		x, l := w.av[p], a.Ind[p]
		from, to := b.Ptr[l], b.Ptr[l+1]
		bv := w.bv[from:to]
		for q, j := range b.Ind[from:to] {
			// The sums of columns that the row of C has not are not looked at.
			s.sum[j] += mul(x, bv[q])
		}
	}
	for p := lo; p < hi; p++ {
		j := c.Ind[p]
		if s.at[j] != p {
			continue // the same place comes again
		}
		if w.sub {
			w.cv[p] -= s.sum[j]
		} else {
			w.cv[p] += s.sum[j]
		}
	}
}

func (w *spgemm[T, I]) gradientRow(s *spgemmScratch[T, I], block, i int) {
	a, b, c := &w.k.A, &w.k.B, &w.k.C
	lo, hi := w.note(s, i)
	for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
		l := a.Ind[p]
		from, to := b.Ptr[l], b.Ptr[l+1]
		if from == to {
			continue
		}
		var gb []T // of row l of B
		if w.gb != nil {
			gb = w.windows[block].reach(int(from), int(to)-1, nil)[from:to]
		}
		var sum T
		for q, j := range b.Ind[from:to] {
			r := s.at[j]
			if r < lo || r >= hi || c.Ind[r] != j {
				continue
			}
			if w.ga != nil {
				sum += mul(w.gc[r], w.bv[int(from)+q])
			}
			if gb != nil {
				gb[q] += mul(w.av[p], w.gc[r])
			}
		}
		if w.ga != nil {
			w.ga[p] += sum
		}
	}
}
