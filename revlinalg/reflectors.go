package revlinalg

import (
	"sync/atomic"

	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

const (
	// qrPanel is the number of reflections that are applied together, and of the columns
	// to which they are applied at a time. It is the width of a tile of the products.
	qrPanel = 24
	// qrLeaf is the largest number of columns that are reduced one after the other.
	qrLeaf = 6
)

// reflectors reduces A to R by reflections I - τ·v·vᵀ. It forms Q, the first columns of
// their product.
//
// A is cut into strips of qrPanel columns. Each strip is stored by itself. Strip j is
// loaded, the panels 0, ..., j-1 of reflections are applied to it, and what is left below
// becomes panel j. A panel is applied as a whole, as I - V·Tᵀ·Vᵀ. Column strip j of Q is
// strip j of the identity, to which the panels j, ..., 0 are applied as I - V·T·Vᵀ.
//
// Each panel needs the one before it. Workers take the strips of A in order, each a strip at a
// time, and wait for panels before they apply them. When no strip of A is left, they take the
// strips of Q. The operations on a strip and their order do not depend on the worker.
type reflectors[T rev.Float] struct {
	q, r    rev.General[T]
	a       rev.General[T]
	strips  []T            // strips of A that become R, and then panels of V, with 1 on the diagonal and 0 above
	t       rev.General[T] // T of each panel, below each other
	scratch []qrScratch[T] // of each worker

	steps   parallel.Sequence
	reduced atomic.Int64 // number of complete panels
}

// qrScratch is the scratch memory of a worker.
type qrScratch[T rev.Float] struct {
	v    rev.General[T] // a panel by columns, qrPanel×m; or a strip of Q, m×qrPanel
	tau  [qrPanel]T
	x, y [qrPanel * qrPanel]T
}

// householder sets Q and R.
func (w *qrWork[T]) householder(a rev.General[T]) {
	m, n := a.Rows, a.Cols
	w.a = a
	w.q, w.r = scratch(w.q, m, n), zeros(w.r, n, n)
	strips := (n + qrPanel - 1) / qrPanel
	w.strips = workspace.Grow(w.strips, strips*qrPanel*m)
	w.t = zeros(w.t, strips*qrPanel, qrPanel)
	w.reduced.Store(0)
	w.steps.Begin()
	workers := min(parallel.Workers(w.workers), strips)
	for len(w.scratch) < workers {
		w.scratch = append(w.scratch, qrScratch[T]{})
	}
	for i := range workers {
		s := &w.scratch[i]
		s.v.Data = workspace.Grow(s.v.Data, qrPanel*((m+15)&^15+8))
	}
	parallel.Run(workers, 2*strips, &w.reflectors)
	w.a = rev.General[T]{}
}

// strip returns strip j.
func (w *reflectors[T]) strip(j int) rev.General[T] {
	m, n := w.q.Rows, w.q.Cols
	return rev.General[T]{
		Rows: m, Cols: min(qrPanel, n-j*qrPanel), Stride: qrPanel,
		Data: w.strips[j*qrPanel*m : (j+1)*qrPanel*m],
	}
}

// Block works on the next strip, of A or then of Q.
func (w *reflectors[T]) Block(worker, _ int) {
	s, j, strips := &w.scratch[worker], w.steps.Take(), w.t.Rows/qrPanel
	w.steps.Do(func() bool {
		if j < strips {
			return w.advance(s, j)
		}
		return w.form(s, j-strips)
	})
}

// advance makes strip j of A a panel.
func (w *reflectors[T]) advance(s *qrScratch[T], j int) bool {
	x := w.strip(j)
	copyMatrix(x, block(w.a, 0, j*qrPanel, x.Rows, x.Cols))
	for i := range j {
		if !w.steps.Await(&w.reduced, i+1) {
			return false
		}
		k := i * qrPanel
		w.apply(s, i, x.Rows-k, block(x, k, 0, x.Rows-k, x.Cols), true)
	}
	w.reduce(s, j)
	w.reduced.Store(int64(j + 1))
	return true
}

// form computes strip j of Q.
func (w *reflectors[T]) form(s *qrScratch[T], j int) bool {
	if !w.steps.Await(&w.reduced, j+1) {
		return false
	}
	m, lo := w.q.Rows, j*qrPanel
	x := rev.General[T]{Rows: m, Cols: min(qrPanel, w.q.Cols-lo), Stride: qrPanel, Data: s.v.Data[:qrPanel*m]}
	clear(x.Data)
	for i := range x.Cols {
		x.Row(lo + i)[i] = 1
	}
	for i := j; i >= 0; i-- {
		k := i * qrPanel
		rows := m - k
		if i == j {
			rows = x.Cols // the other rows of the identity are zero
		}
		w.apply(s, i, rows, block(x, k, 0, m-k, x.Cols), false)
	}
	copyMatrix(block(w.q, 0, lo, m, x.Cols), x)
	return true
}

// apply computes X <- (I - V·T·Vᵀ)·X for a panel, or with Tᵀ if trans is set. X has the rows
// of the panel. Only its first rows need not be zero.
func (w *reflectors[T]) apply(s *qrScratch[T], panel, rows int, x rev.General[T], trans bool) {
	k := panel * qrPanel
	v := w.strip(panel)
	p := v.Cols
	v = block(v, k, 0, v.Rows-k, p)
	vx, tvx := s.products(p, x.Cols)
	gemm(1, view(block(v, 0, 0, rows, p), true), block(x, 0, 0, rows, x.Cols), vx)
	gemm(1, view(block(w.t, k, 0, p, p), trans), vx, tvx)
	gemm(-1, view(v, false), tvx, x)
}

// products returns two r×c matrices of zeros.
func (s *qrScratch[T]) products(r, c int) (x, y rev.General[T]) {
	x = rev.General[T]{Rows: r, Cols: c, Stride: qrPanel, Data: s.x[:r*qrPanel]}
	y = rev.General[T]{Rows: r, Cols: c, Stride: qrPanel, Data: s.y[:r*qrPanel]}
	clear(x.Data)
	clear(y.Data)
	return x, y
}

// reduce makes strip j a panel.
func (w *reflectors[T]) reduce(s *qrScratch[T], j int) {
	m, k := w.q.Rows, j*qrPanel
	x := w.strip(j)
	p := x.Cols
	for i := range k {
		copy(w.r.Row(i)[k:], x.Row(i))
	}
	x = block(x, k, 0, m-k, p)
	s.v = rev.General[T]{Rows: p, Cols: m - k, Stride: (m-k+15)&^15 + 8, Data: s.v.Data}
	copyTransposed(s.v, x)
	w.factor(s, k, 0, p)
	copyTransposed(x, s.v)
}

// factor reduces n columns of the panel at k, from column lo on. They are rows of s.v. factor
// also sets their block of T. It halves the columns. Let V1 and T1 be V and T of the first
// half, and V2 and T2 of the second. Then
//
//	T = | T1  -T1·V1ᵀ·V2·T2 |
//	    | 0        T2       |
//
// (Elmroth and Gustavson, Applying recursion to serial and parallel QR
// factorization leads to better performance, IBM J. Res. Dev. 44 (2000)).
func (w *reflectors[T]) factor(s *qrScratch[T], k, lo, n int) {
	if n <= qrLeaf {
		w.reflect(s, k, lo, n)
		return
	}
	h := (n/2 + qrLeaf - 1) / qrLeaf * qrLeaf
	q, mid := n-h, lo+h
	w.factor(s, k, lo, h)
	t1 := block(w.t, k+lo, lo, h, h)
	v1, x := block(s.v, lo, lo, h, s.v.Cols-lo), block(s.v, mid, lo, q, s.v.Cols-lo)
	vx, tvx := s.products(h, q)
	gemmTransposed(v1, x, vx)
	gemm(1, view(t1, true), vx, tvx)
	gemm(-1, view(tvx, true), v1, x)
	w.factor(s, k, mid, q)
	t2 := block(w.t, k+mid, mid, q, q)
	v1, v2 := block(s.v, lo, mid, h, s.v.Cols-mid), block(s.v, mid, mid, q, s.v.Cols-mid)
	vv, tvv := s.products(h, q)
	gemmTransposed(v1, v2, vv)
	gemm(1, view(t1, false), vv, tvv)
	gemm(-1, view(tvv, false), t2, block(w.t, k+lo, mid, h, q))
}

// reflect is factor for a few columns. It reduces them one by one.
func (w *reflectors[T]) reflect(s *qrScratch[T], k, lo, n int) {
	for j := lo; j < lo+n; j++ {
		row := s.v.Row(j)
		x := row[j:]
		alpha, length := x[0], vectorNorm(rev.ViewSlice(x[1:]))
		if length < abs(alpha)/64 && length <= 10*epsilon[T]()*w.top(k, k+j, row[:j+1]) {
			clear(x[1:])
			length = 0
		}
		s.tau[j] = 0
		if length != 0 {
			// Choose the sign for which α - β does not cancel. If only rounding may keep α
			// from being 0, choose the sign for α = 0.
			beta := -vectorNorm(rev.ViewSlice([]T{alpha, length}))
			if alpha < -sqrt(epsilon[T]())*length {
				beta = -beta
			}
			s.tau[j] = (beta - alpha) / beta
			divideRow(x[1:], alpha-beta)
			x[0] = 1
			for l := j + 1; l < lo+n; l++ {
				y := s.v.Row(l)[j:]
				vec.Axpy(-s.tau[j]*vec.Dot(x, y), x, y)
			}
			x[0] = beta
		}
		for i, v := range row[:j+1] {
			w.r.Row(k + i)[k+j] = v
		}
		clear(row[:j])
		row[j] = 1
	}
	// t_jj = τ_j and T[:j,j] = -τ_j·T[:j,:j]·V[:,:j]ᵀ·v_j
	v := block(s.v, lo, lo, n, s.v.Cols-lo)
	vv, _ := s.products(n, n)
	gemmTransposed(v, v, vv)
	t := block(w.t, k+lo, lo, n, n)
	for j := range n {
		for i := range j {
			sum := T(0)
			for l := i; l < j; l++ {
				sum += T(t.Row(i)[l] * vv.Row(l)[j])
			}
			t.Row(i)[j] = -s.tau[lo+j] * sum
		}
		t.Row(j)[j] = s.tau[lo+j]
	}
}

// top returns the largest magnitude in column j of R. The first rows are in place, and rest
// holds the others.
func (w *reflectors[T]) top(rows, j int, rest []T) T {
	top := T(0)
	for i := range rows {
		top = max(top, abs(w.r.Row(i)[j]))
	}
	for _, v := range rest {
		top = max(top, abs(v))
	}
	return top
}

// gemmTransposed computes c += a·bᵀ.
func gemmTransposed[T rev.Float](a, b, c rev.General[T]) {
	dense.Gemm(a.Rows, b.Rows, a.Cols, 1, a.Data, a.Stride, 1, b.Data, 1, b.Stride, c.Data, c.Stride)
}
