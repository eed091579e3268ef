package revsparse

import (
	"sort"

	"revnum/fixed"
	"revnum/internal/parallel"
	"revnum/internal/simd"
	"revnum/internal/workspace"
	"revnum/rev"
)

// A pass goes over the entries a_ij of a sparse matrix once. With u_j, v_i and so
// on for rows of dense matrices, and s_i = Σ_j a_ij·u_j, it computes
//
//	out_i += alpha·s_i
//	w_j   += beta·Σ_i conj(a_ij)·v_i
//	ga_ij += gamma·v_i·conj(u_j)ᵀ
//	sum   += Σ_i v_i·conj(s_i)ᵀ
//
// or of these what is not nil, with -= for += in the first two if subOut or subW
// is set.
// If flip is set, a_ij is conjugated where conj(a_ij) is not, v_i where u_j and
// s_i are not.
//
// The work is cut into blocks of whole rows of about the same number of entries,
// which depend on the structure of a alone, and so do the bits of the results.
// Where w is one column, each block adds into columns of its own, of which it
// keeps those between the first and the last one that it meets, and these are
// added to w in the order of the blocks. Where w has more columns, the transpose
// of a is made first, at a cost that they are worth, and w is its out.
type pass[T Scalar, I Index] struct {
	a                  CSR[T, I]
	u, v, out, w       rev.General[T]
	ga                 []T
	alpha, beta, gamma T
	subOut, subW       bool
	flip               bool
	sum                *T
	workers            int
}

// run does a pass. The dense matrices have the same number of columns.
func (p pass[T, I]) run() {
	cols := max(p.u.Cols, p.v.Cols)
	if len(p.a.Ind) == 0 || cols == 0 {
		return
	}
	j := workspace.Get[job[T, I]]()
	j.p = p
	if cols == 1 && p.a.Data != nil {
		j.column()
	} else {
		j.columns(cols)
	}
	j.p, j.given = pass[T, I]{}, pass[T, I]{}
	workspace.Put(j)
}

// A job is a pass in progress.
type job[T Scalar, I Index] struct {
	p       pass[T, I]
	step    step
	blocks  int
	sums    []T         // of each block
	windows []window[T] // of w, one for each block
	scratch []*scratch[T]
	lo, hi  int // columns of the dense matrices that are worked on

	packed [4][]T     // u, v, out and w without gaps, of a single column
	given  pass[T, I] // with the gaps
	t      CSR[T, I]  // the transpose of a
}

type step int

const (
	stepColumn  step = iota // blocks of rows, the dense matrices being one column
	stepCombine             // blocks of the windows
	stepColumns             // blocks of rows
)

type scratch[T Scalar] struct {
	s     [panel]T
	exact [panel]fixed.Accumulator
}

const (
	panel       = 64      // columns that are worked on at a time
	blockWork   = 1 << 14 // entries and rows of a block
	mostBlocks  = 64
	mostWindows = 8
	combined    = 1 << 13 // columns of a block of stepCombine
)

// Block does the step for a block.
func (j *job[T, I]) Block(worker, block int) {
	switch j.step {
	case stepColumn:
		j.rowsOfColumn(block)
	case stepCombine:
		j.combine(block)
	case stepColumns:
		j.rows(j.scratch[worker], block)
	}
}

// cut returns the first row of a block.
func (j *job[T, I]) cut(block int) int {
	a := &j.p.a
	if block == j.blocks {
		return a.Rows
	}
	at := (len(a.Ind) + a.Rows) / j.blocks * block
	return sort.Search(a.Rows, func(i int) bool { return int(a.Ptr[i])+i >= at })
}

// columns does a pass over matrices of several columns.
func (j *job[T, I]) columns(cols int) {
	if w := j.p.w; w.Data != nil {
		a := j.p.a
		j.t = CSR[T, I]{
			Rows: a.Cols, Cols: a.Rows,
			Ptr: workspace.Grow(j.t.Ptr, a.Cols+1), Ind: workspace.Grow(j.t.Ind, len(a.Ind)), Data: workspace.Grow(j.t.Data, len(a.Ind)),
		}
		transpose(&j.t, a)
		p := j.p
		j.p = pass[T, I]{a: j.t, u: p.v, out: w, alpha: p.beta, subOut: p.subW, flip: !p.flip, workers: p.workers}
		j.allRows(cols)
		j.p = p
	}
	if j.p.out.Data != nil || j.p.ga != nil || j.p.sum != nil {
		j.allRows(cols)
	}
}

func (j *job[T, I]) allRows(cols int) {
	work := (len(j.p.a.Ind) + j.p.a.Rows) * min(cols, panel)
	j.blocks = max(1, min(work/(4*blockWork), mostBlocks))
	workers := min(parallel.Workers(j.p.workers), j.blocks)
	for len(j.scratch) < workers {
		j.scratch = append(j.scratch, new(scratch[T]))
	}
	j.sums = workspace.Zeros(j.sums, j.blocks)
	j.step = stepColumns
	for j.lo = 0; j.lo < cols; j.lo += panel {
		j.hi = min(j.lo+panel, cols)
		parallel.Run(workers, j.blocks, j)
	}
	j.addSums()
}

func (j *job[T, I]) addSums() {
	if j.p.sum == nil {
		return
	}
	for _, s := range j.sums {
		*j.p.sum += s
	}
}

// rows does columns lo to hi-1 of a block of rows.
func (j *job[T, I]) rows(s *scratch[T], block int) {
	p := &j.p
	r0, r1 := j.cut(block), j.cut(block+1)
	cols := j.hi - j.lo
	gather := p.out.Data != nil || p.sum != nil
	for i := r0; i < r1; i++ {
		b, e := int(p.a.Ptr[i]), int(p.a.Ptr[i+1])
		if b == e {
			continue
		}
		ind := p.a.Ind[b:e]
		if gather {
			t := s.s[:cols]
			gatherRows(s, t, p.a.Data[b:e], ind, p.u, j.lo, p.flip)
			if p.out.Data != nil {
				addTo(part(p.out, i, j.lo, cols), p.alpha, t, p.subOut)
			}
			if p.sum != nil {
				j.sums[block] += dotConj(part(p.v, i, j.lo, cols), t, p.flip)
			}
		}
		if p.ga != nil {
			ga := p.ga[b:e]
			v := part(p.v, i, j.lo, cols)
			for q, c := range ind {
				ga[q] += mul(p.gamma, dotConj(v, part(p.u, int(c), j.lo, cols), p.flip))
			}
		}
	}
}

// dense returns the dense matrices, the results at the end.
func (p *pass[T, I]) dense() [4]*rev.General[T] {
	return [...]*rev.General[T]{&p.u, &p.v, &p.out, &p.w}
}

// part returns n elements of row i of m, from column lo on.
func part[T any](m rev.General[T], i, lo, n int) []T {
	at := i*m.Stride + lo
	return m.Data[at : at+n : at+n]
}

// gatherRows computes t = Σ_q a_q·u_(ind_q), of the columns from lo on.
func gatherRows[T Scalar, I Index](s *scratch[T], t, a []T, ind []I, u rev.General[T], lo int, flip bool) {
	if isFixed[T]() {
		sums := s.exact[:len(t)]
		clear(sums)
		for q, x := range q43(a) {
			for c, y := range q43(part(u, int(ind[q]), lo, len(t))) {
				sums[c].AddMul(x, y)
			}
		}
		f := q43(t)
		for c := range sums {
			f[c] = sums[c].Round()
		}
		return
	}
	clear(t)
	for q, x := range a {
		if flip {
			x = conj(x)
		}
		axpy(x, part(u, int(ind[q]), lo, len(t)), t)
	}
}

// axpy computes y += x·alpha.
func axpy[T Scalar](alpha T, x, y []T) {
	switch x := any(x).(type) {
	case []float64:
		simd.Axpy(any(alpha).(float64), x, any(y).([]float64))
		return
	case []float32:
		simd.Axpy(any(alpha).(float32), x, any(y).([]float32))
		return
	}
	for c, v := range x {
		y[c] += mul(alpha, v)
	}
}

// addTo computes y += alpha·x, or y -= alpha·x.
func addTo[T Scalar](y []T, alpha T, x []T, neg bool) {
	if neg && !isFixed[T]() {
		alpha, neg = -alpha, false
	}
	if neg {
		for c, v := range x {
			y[c] -= mul(alpha, v)
		}
		return
	}
	axpy(alpha, x, y)
}

// dotConj returns Σ x_c·conj(y_c), or of the conjugates if flip is set.
func dotConj[T Scalar](x, y []T, flip bool) T {
	switch xs := any(x).(type) {
	case []float64:
		return any(simd.Dot(xs, any(y).([]float64))).(T)
	case []float32:
		return any(simd.Dot(xs, any(y).([]float32))).(T)
	case []fixed.Q43:
		return any(fixed.Dot(xs, any(y).([]fixed.Q43))).(T)
	}
	var s T
	for c, v := range x {
		s += mul(v, conj(y[c]))
	}
	if flip {
		s = conj(s)
	}
	return s
}
