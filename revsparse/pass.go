package revsparse

import (
	"slices"
	"sort"
	"unsafe"

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
// The work is cut into blocks of about the same number of entries, of whole rows but for
// long ones of single columns of floats. They depend on the structure of a alone, and so
// do the bits of the results.
// Where w is one column, each block adds to elements that are its own in their place,
// and to others in a window; the windows are added to w in the order of the blocks.
// Where w is a few columns of floats, each block has a window of all of them. Where w
// has more, the transpose of a is made first, at a cost that they are worth, and w is
// its out.
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
	if p.a.Cols == 0 {
		panic(outOfRange)
	}
	j := workspace.Get[job[T, I]]()
	j.p = p
	switch {
	case cols == 1 && p.a.Data != nil:
		j.column()
	case cols <= fewColumns && p.w.Data != nil && !isFixed[T]() && !isComplex[T]():
		j.fewColumns(cols)
	default:
		j.columns(cols)
	}
	j.p, j.given, j.of, j.from = pass[T, I]{}, pass[T, I]{}, pass[T, I]{}, rev.General[T]{}
	workspace.Put(j)
}

// A job is a pass in progress.
type job[T Scalar, I Index] struct {
	p       pass[T, I]
	step    step
	blocks  int
	sums    []T         // of each block
	parts   []T         // of divided rows, of a single column
	windows []window[T] // of w, one for each block
	used    int         // of the windows, none if the blocks add to w itself
	scratch []*scratch[T]

	packed [4][]T     // u, v, out and w without gaps, of a single column, and u and v of several
	given  pass[T, I] // with the gaps

	t              CSR[T, I]  // the transpose of a
	ptr, ind, perm []I        // of the matrix that t has the structure of, and where its entries are there
	tga            []T        // ga in the order of t
	of             pass[T, I] // whose rows of t are worked on
	first, last    bool       // panel of columns of it

	from, to rev.General[T] // of stepPack, and of stepColumns where it packs v on the way
}

type step int

const (
	stepColumn     step = iota // blocks of rows, the dense matrices being one column
	stepCombine                // blocks of the windows
	stepPack                   // blocks of rows of what is copied
	stepColumns                // blocks of rows
	stepTransposed             // blocks of rows of t
	stepRows                   // blocks of rows of the windows
)

// A scratch is what a worker needs for its own.
type scratch[T Scalar] struct {
	s     [pieceRows]T // sums of rows, or of the columns of one
	exact [panelBytes / 8]fixed.Accumulator
}

// open makes scratch for workers.
func (j *job[T, I]) open(workers int) {
	for len(j.scratch) < workers {
		j.scratch = append(j.scratch, new(scratch[T]))
	}
}

const (
	fewColumns  = 16        // of w that a block adds into, at most
	panelBytes  = 512       // of a row of the columns that are worked on at a time, at most
	pieceRows   = 1024      // rows of a piece of a block
	blockWork   = 1 << 14   // entries and rows of a block
	longRow     = blockWork // entries of a row that is not divided between blocks, at most
	mostBlocks  = 64
	windowWork  = 3 * blockWork / 2 // entries and rows of a block with a window
	mostWindows = 8
	windowReads = 4         // entries for each element of the windows, at least
	wideRange   = 1 << 17   // columns that a piece of a block ranges over where they are not in a cache
	pairReads   = 16        // entries for each pair of the windows, at least, where they are in a cache
	chunk       = 1 << 10   // columns of a part of a window
	combined    = 8 * chunk // columns of a block of stepCombine
	packedReads = 4         // of a row, on average, that a copy pays for
	packedRows  = 1 << 8    // rows of a block of stepPack
)

// Block does the step for a block.
func (j *job[T, I]) Block(worker, block int) {
	switch j.step {
	case stepColumn:
		j.rowsOfColumn(j.scratch[worker], block)
	case stepCombine:
		j.combine(block)
	case stepPack:
		j.packRows(block*packedRows, min(j.to.Rows, (block+1)*packedRows))
	case stepColumns:
		j.rows(j.scratch[worker], block)
		if j.to.Data != nil {
			j.packRows(j.cut(block), j.cut(block+1))
		}
	case stepTransposed:
		j.transposedRows(j.scratch[worker], block)
	case stepRows:
		j.combineRows(block)
	}
}

// cut returns the first row of a block.
func (j *job[T, I]) cut(block int) int {
	a := &j.p.a
	if block == j.blocks {
		return a.Rows
	}
	at := j.begin(block)
	return sort.Search(a.Rows, func(i int) bool { return int(a.Ptr[i])+i >= at })
}

// begin returns how many entries and rows are before a block.
func (j *job[T, I]) begin(block int) int {
	return (len(j.p.a.Ind) + j.p.a.Rows) / j.blocks * block
}

// columns does a pass over matrices of several columns, a panel of them after the
// other: the rows of a for out and sum, and those of its transpose for w. One of these
// passes has ga on the way, with the same bits.
func (j *job[T, I]) columns(cols int) {
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
		t := pass[T, I]{a: j.t, out: p.w, alpha: p.beta, subOut: p.subW, flip: !p.flip, workers: p.workers}
		p.w = rev.General[T]{}
		if t.out.Data != nil && p.ga != nil && p.out.Data == nil && p.sum == nil && n < cols {
			j.tga = workspace.Grow(j.tga, len(p.ga))
			t.v, t.ga, t.gamma = p.u, j.tga, p.gamma
			p.ga = nil
		}
		if p.out.Data != nil || p.ga != nil || p.sum != nil {
			p.u = j.pack(0, p.u)
			if t.out.Data != nil && (p.ga != nil || p.sum != nil) && j.packs(p.v) {
				// The rows of v are packed while they are in a cache.
				j.setPack(1, p.v)
			}
			j.panel(p, stepColumns)
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

// fewColumns does a pass over matrices of a few columns of floats, with w.
func (j *job[T, I]) fewColumns(cols int) {
	p := &j.p
	most := max(2, min(mostWindows, len(p.a.Ind)/(windowReads*p.a.Cols)))
	// Not by the number of columns, so that the bits of one do not depend on it.
	j.blocks = max(1, min((len(p.a.Ind)+p.a.Rows)/blockWork, most))
	for len(j.windows) < j.blocks {
		j.windows = append(j.windows, window[T]{})
	}
	for b := range j.windows[:j.blocks] {
		j.windows[b].open(p.a.Cols * cols)
	}
	workers := parallel.Workers(p.workers)
	j.open(min(workers, j.blocks))
	j.sums = workspace.Zeros(j.sums, j.blocks)
	j.step = stepColumns
	parallel.Run(workers, j.blocks, j)
	j.step = stepRows
	parallel.Run(workers, (p.a.Cols+chunk-1)/chunk, j)
	j.addSums()
}

// combineRows adds the windows to a block of rows of w, which begins with a chunk.
func (j *job[T, I]) combineRows(block int) {
	w := j.p.w
	from, to := block*chunk, min(w.Rows, (block+1)*chunk)
	if w.Stride == w.Cols && !j.p.subW {
		combineWindows(j.windows[:j.blocks], w.Data, from*w.Cols, to*w.Cols)
		return
	}
	for i := from; i < to; i++ {
		for b := range j.windows[:j.blocks] {
			win := &j.windows[b]
			// A row that entries met is in chunks that were.
			if lo, hi := i*w.Cols, (i+1)*w.Cols; win.met[lo/chunk] && win.met[(hi-1)/chunk] {
				addTo(w.Row(i), one[T](), win.all[lo:hi], j.p.subW)
			}
		}
	}
}

// transpose makes t the transpose of a, without its values. Most often a has the
// structure that it had in the call before, and t is that already.
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

// transposedRows does a block of rows of t. Values of t are taken, and ga is brought
// back, by blocks too.
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

// pack returns columns of a dense matrix side by side, in storage number n, or as they
// are where that does not pay.
func (j *job[T, I]) pack(n int, m rev.General[T]) rev.General[T] {
	if !j.packs(m) {
		return m
	}
	j.setPack(n, m)
	j.step = stepPack
	parallel.Run(parallel.Workers(j.p.workers), (m.Rows+packedRows-1)/packedRows, j)
	to := j.to
	j.to = rev.General[T]{}
	return to
}

// packs reports whether columns of a dense matrix are read so often that a copy pays:
// far apart they do not stay in a cache, least where the stride is a power of 2.
func (j *job[T, I]) packs(m rev.General[T]) bool {
	return m.Stride > m.Cols && len(j.p.a.Ind) >= packedReads*m.Rows
}

// setPack has packRows copy m to storage number n.
func (j *job[T, I]) setPack(n int, m rev.General[T]) {
	j.packed[n] = workspace.Grow(j.packed[n], m.Rows*m.Cols)
	j.from, j.to = m, rev.General[T]{Rows: m.Rows, Cols: m.Cols, Data: j.packed[n], Stride: m.Cols}
}

// packRows copies rows of from to to.
func (j *job[T, I]) packRows(first, last int) {
	for i := first; i < last; i++ {
		if soon := i + 8; soon < last {
			prefetch(j.from.Row(soon))
		}
		copy(j.to.Row(i), j.from.Row(i))
	}
}

// prefetch asks for x, which is read soon.
func prefetch[T Scalar](x []T) {
	switch x := any(x).(type) {
	case []float64:
		simd.PrefetchRow(x)
	case []float32:
		simd.PrefetchRow(x)
	}
}

// panel does a pass without w over so many columns as are worked on at a time.
func (j *job[T, I]) panel(p pass[T, I], of step) {
	j.p, j.step = p, of
	work := (len(p.a.Ind) + p.a.Rows) * max(p.u.Cols, p.v.Cols)
	j.blocks = max(1, min(work/(4*blockWork), mostBlocks))
	workers := min(parallel.Workers(p.workers), j.blocks)
	j.open(workers)
	parallel.Run(workers, j.blocks, j)
}

func (j *job[T, I]) addSums() {
	if j.p.sum == nil {
		return
	}
	for _, s := range j.sums {
		*j.p.sum += s
	}
}

// rows does a block of rows of stepColumns.
func (j *job[T, I]) rows(s *scratch[T], block int) {
	r0, r1 := j.cut(block), j.cut(block+1)
	switch j := any(j).(type) {
	case *job[float64, I]:
		vectorRows(j, any(s).(*scratch[float64]), block, r0, r1)
	case *job[float32, I]:
		vectorRows(j, any(s).(*scratch[float32]), block, r0, r1)
	case *job[fixed.Q43, I]:
		scalarRows(j, any(s).(*scratch[fixed.Q43]), block, r0, r1)
	case *job[complex128, I]:
		scalarRows(j, any(s).(*scratch[complex128]), block, r0, r1)
	}
}

// vectorRows does a block in pieces of so many entries as a loop takes.
func vectorRows[T rev.Float, I Index](j *job[T, I], s *scratch[T], block, r0, r1 int) {
	p, cols, ptr := &j.p, max(j.p.u.Cols, j.p.v.Cols), j.p.a.Ptr
	alpha := p.alpha
	if p.subOut {
		alpha = -alpha
	}
	var win *window[T]
	if p.w.Data != nil {
		win = &j.windows[block]
	}
	// Both gradients in one loop, with sums that nobody wants, are less work than in two.
	both := win != nil && p.ga != nil && p.out.Data == nil
	for i := r0; i < r1; {
		begin := int(ptr[i])
		rows := sort.Search(min(r1-i, pieceRows), func(n int) bool { return int(ptr[i+n+1])-begin > simd.SparseEntries })
		if rows > 0 && p.sum == nil && !both {
			var out []T
			if p.out.Data != nil {
				out = p.out.Data[i*p.out.Stride:]
			}
			vectorPiece(j, i, ptr[i+1:i+rows+1], begin, out, p.out.Stride, alpha, win)
			i += rows
			continue
		}
		// The sum wants s_i before it is multiplied by alpha, and a row of more entries
		// than a loop takes is done in parts.
		rows = max(1, min(rows, pieceRows/cols))
		var sums []T
		if p.out.Data != nil || p.sum != nil || both {
			sums = s.s[:rows*cols]
			clear(sums)
		}
		if last := int(ptr[i+rows]); last-begin <= simd.SparseEntries {
			vectorPiece(j, i, ptr[i+1:i+rows+1], begin, sums, cols, 1, win)
		} else {
			for begin < last {
				to := min(begin+simd.SparseEntries, last)
				vectorPiece(j, i, []I{I(to)}, begin, sums, cols, 1, win)
				begin = to
			}
		}
		for n := 0; sums != nil && n < rows; n++ {
			if ptr[i+n] == ptr[i+n+1] {
				continue
			}
			sum := sums[n*cols : (n+1)*cols]
			if p.out.Data != nil {
				simd.Axpy(alpha, sum, p.out.Row(i+n))
			}
			if p.sum != nil {
				j.sums[block] += simd.Dot(p.v.Row(i+n), sum)
			}
		}
		i += rows
	}
}

// vectorPiece does the entries from begin on of the rows from i on, and adds
// alpha·s_i to the rows of out, unless that is nil, and to w in win, if there is one. The
// entries stay in a cache from some columns to the next.
func vectorPiece[T rev.Float, I Index](j *job[T, I], i int, end []I, begin int, out []T, ldo int, alpha T, win *window[T]) {
	p, to := &j.p, int(end[len(end)-1])
	ind := p.a.Ind[begin:to]
	if len(ind) == 0 {
		return
	}
	cols := max(p.u.Cols, p.v.Cols)
	var w []T
	if win != nil {
		lo, hi := simd.IndexRange(ind)
		if lo < 0 || int(hi) >= p.a.Cols {
			panic(outOfRange)
		}
		w = win.reach(int(lo)*cols, (int(hi)+1)*cols-1, nil)
	}
	var n int
	for lo := 0; lo < cols; lo += n {
		var u, v, ga []T
		ldu, ldv := p.u.Stride, p.v.Stride
		if p.u.Data != nil {
			u = p.u.Data[lo:]
		}
		if p.v.Data != nil {
			v = p.v.Data[i*ldv+lo:]
		}
		if p.ga != nil {
			ga = p.ga[begin:to]
		}
		if win != nil {
			n = simd.SpreadCols[T](cols - lo)
			a, w := p.a.Data[begin:to], w[lo:]
			switch {
			case ga != nil:
				simd.SparseRowsDotsSpread(n, end, begin, ind, u, ldu, a, out[lo:], ldo, alpha, ga, p.gamma, v, ldv, p.beta, w, cols)
			case out != nil:
				simd.SparseRowsSpread(n, end, begin, ind, u, ldu, a, out[lo:], ldo, alpha, v, ldv, p.beta, w, cols)
			default:
				simd.SparseSpread(n, end, begin, ind, a, v, ldv, p.beta, w, cols)
			}
			continue
		}
		n = simd.SparseCols[T](cols - lo)
		switch {
		case ga == nil:
			simd.SparseRows(n, end, begin, ind, u, ldu, p.a.Data[begin:to], out[lo:], ldo, alpha)
		case out == nil:
			simd.SparseDots(n, end, begin, ind, u, ldu, ga, v, ldv, p.gamma)
		default:
			simd.SparseRowsDots(n, end, begin, ind, u, ldu, p.a.Data[begin:to], out[lo:], ldo, alpha, ga, v, ldv, p.gamma)
		}
	}
}

// scalarRows does a block of numbers without vector code.
func scalarRows[T Scalar, I Index](j *job[T, I], s *scratch[T], block, r0, r1 int) {
	p, cols := &j.p, max(j.p.u.Cols, j.p.v.Cols)
	r := row[T, I]{alpha: p.alpha, gamma: p.gamma, u: p.u.Data, ldu: p.u.Stride, subtract: p.subOut, flip: p.flip}
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
			r.v = p.v.Row(i)
		}
		if p.out.Data != nil {
			r.out = p.out.Row(i)
		}
		if p.out.Data != nil || p.sum != nil {
			r.a = p.a.Data[b:e]
		}
		if r.a == nil || p.sum == nil && isFixed[T]() {
			r.run(s)
			continue
		}
		// The sum wants s_i before it is multiplied by alpha.
		out := r.out
		r.out, r.alpha, r.subtract = s.s[:cols], one[T](), false
		clear(r.out)
		r.run(s)
		if out != nil {
			addTo(out, p.alpha, r.out, p.subOut)
		}
		if p.sum != nil {
			j.sums[block] += dotConj(r.v, r.out, p.flip)
		}
		r.out, r.alpha, r.subtract = out, p.alpha, p.subOut
	}
}

// A row is what a pass does for a row of a without vector code, where it has
// entries: out and a, or ga and v, may be nil. Element c of u_j is u[j*ldu+c]. Over
// complex128, alpha is 1.
type row[T Scalar, I Index] struct {
	out, a, ga, v, u []T
	ind              []I
	ldu              int
	alpha, gamma     T
	subtract, flip   bool
}

func (r *row[T, I]) run(s *scratch[T]) {
	switch r := any(r).(type) {
	case *row[fixed.Q43, I]:
		fixedRow(r, s.exact[:len(r.out)])
	case *row[complex128, I]:
		complexRow(r)
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
