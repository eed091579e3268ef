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
// If mirror is set, the dense matrices are single columns, v is u and w is out, and
// entries on the diagonal do not go into w.
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
	flip, mirror       bool
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

// A scratch is what a worker needs for its own.
type scratch[T Scalar] struct {
	s     [pieceRows]T // sums of rows, or of the columns of one
	exact [panel]fixed.Accumulator
}

// open makes scratch for workers.
func (j *job[T, I]) open(workers int) {
	for len(j.scratch) < workers {
		j.scratch = append(j.scratch, new(scratch[T]))
	}
}

const (
	panel       = 128     // columns that are worked on at a time at most
	pieceRows   = 1024    // rows of a piece of a block, of single columns
	blockWork   = 1 << 14 // entries and rows of a block
	mostBlocks  = 64
	mostWindows = 8
	combined    = 1 << 13 // columns of a block of stepCombine
)

// Block does the step for a block.
func (j *job[T, I]) Block(worker, block int) {
	switch j.step {
	case stepColumn:
		j.rowsOfColumn(j.scratch[worker], block)
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
	j.open(workers)
	j.sums = workspace.Zeros(j.sums, j.blocks)
	j.step = stepColumns
	for j.lo = 0; j.lo < cols; j.lo = j.hi {
		j.hi = j.lo + panelCols[T](cols-j.lo)
		parallel.Run(workers, j.blocks, j)
	}
	j.addSums()
}

// panelCols returns how many of n columns are worked on at a time.
func panelCols[T Scalar](n int) int {
	switch any(T(0)).(type) {
	case float64:
		return simd.SparseCols[float64](n)
	case float32:
		return simd.SparseCols[float32](n)
	}
	return min(n, panel)
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
	var u []T
	if p.u.Data != nil {
		u = p.u.Data[j.lo:]
	}
	r := row[T, I]{alpha: p.alpha, gamma: p.gamma, u: u, ldu: p.u.Stride, ldv: p.v.Stride, flip: p.flip}
	if p.subOut && !isFixed[T]() {
		r.alpha = -r.alpha
	}
	r.subtract = p.subOut && isFixed[T]()
	for i := r0; i < r1; i++ {
		b, e := int(p.a.Ptr[i]), int(p.a.Ptr[i+1])
		if b == e {
			continue
		}
		r.ind = p.a.Ind[b:e]
		if p.ga != nil {
			r.ga = p.ga[b:e]
		}
		if p.v.Data != nil {
			r.v = part(p.v, i, j.lo, cols)
		}
		if p.out.Data != nil {
			r.out = part(p.out, i, j.lo, cols)
		}
		if p.out.Data != nil || p.sum != nil {
			r.a = p.a.Data[b:e]
		}
		if r.a == nil || p.sum == nil && !isComplex[T]() && e-b <= simd.SparseEntries {
			r.run(s)
			continue
		}
		// The sum wants s_i before it is multiplied by alpha, and a row that is long
		// is done in parts.
		out, alpha, subtract := r.out, r.alpha, r.subtract
		r.out, r.alpha, r.subtract = s.s[:cols], one[T](), false
		clear(r.out)
		r.run(s)
		if out != nil {
			addTo(out, alpha, r.out, subtract)
		}
		if p.sum != nil {
			j.sums[block] += dotConj(r.v, r.out, p.flip)
		}
		r.out, r.alpha, r.subtract = out, alpha, subtract
	}
}

// A row is what a pass does for a row of a, where it has entries: out and a, or
// ga and v, may be nil. Element c of u_j is u[j*ldu+c]. Over complex128, alpha is 1.
type row[T Scalar, I Index] struct {
	out, a, ga, v, u []T
	ind              []I
	ldu, ldv         int
	alpha, gamma     T
	subtract, flip   bool
}

func (r *row[T, I]) run(s *scratch[T]) {
	switch r := any(r).(type) {
	case *row[float64, I]:
		vectorRow(r)
	case *row[float32, I]:
		vectorRow(r)
	case *row[fixed.Q43, I]:
		fixedRow(r, s.exact[:len(r.out)])
	case *row[complex128, I]:
		complexRow(r)
	}
}

func vectorRow[T rev.Float, I Index](r *row[T, I]) {
	switch {
	case r.ga == nil:
		simd.SparseRow(r.out, r.alpha, r.a, r.ind, r.u, r.ldu)
	case r.out == nil:
		simd.SparseDots(r.ga, r.gamma, r.v, r.ldv, r.ind, r.u, r.ldu)
	default:
		simd.SparseRowDots(r.out, r.alpha, r.a, r.ga, r.gamma, r.v, r.ldv, r.ind, r.u, r.ldu)
	}
}

func fixedRow[I Index](r *row[fixed.Q43, I], sums []fixed.Accumulator) {
	clear(sums)
	for q, i := range r.ind {
		at := int(i) * r.ldu
		if r.out != nil {
			for c, y := range r.u[at : at+len(sums)] {
				sums[c].AddMul(r.a[q], y)
			}
		}
		if r.ga != nil {
			r.ga[q] += r.gamma.Mul(fixed.Dot(r.v, r.u[at:at+len(r.v)]))
		}
	}
	for c := range sums {
		x := r.alpha.Mul(sums[c].Round())
		if r.subtract {
			x = -x
		}
		r.out[c] += x
	}
}

func complexRow[I Index](r *row[complex128, I]) {
	for q, i := range r.ind {
		at := int(i) * r.ldu
		if r.out != nil {
			x := r.a[q]
			if r.flip {
				x = conj(x)
			}
			axpy(x, r.u[at:at+len(r.out)], r.out)
		}
		if r.ga != nil {
			r.ga[q] += r.gamma * dotConj(r.v, r.u[at:at+len(r.v)], r.flip)
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
