package revlinalg

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

const (
	// qrPanel is the number of reflections that are applied together, and of columns
	// that they are applied to at a time: the width of a tile of the products.
	qrPanel = 24
	// qrLeaf is the number of columns that are reduced one after the other.
	qrLeaf = 6
)

// reflectors reduces A to R by reflections I - τ·v·vᵀ, and forms Q, the first
// columns of their product.
//
// A is cut into strips of qrPanel columns, each stored by itself. Strip j is
// loaded, the panels 0, ..., j-1 of reflections are applied to it, each at once as
// I - V·Tᵀ·Vᵀ, and what is left below becomes panel j. Column strip j of Q is that
// of the identity, to which the panels j, ..., 0 are applied as I - V·T·Vᵀ: it can
// be formed as soon as panel j is there.
//
// The panels are a chain, each of which needs the one before, and all else hangs
// on it. Workers therefore take the first strip of A that nobody else has and that
// is behind the chain, and only if there is none a strip of Q. What is done to a
// strip, and in which order, does not depend on who does it.
type reflectors[T rev.Float] struct {
	q, r    rev.General[T]
	a       rev.General[T]
	strips  []T            // of A on their way to R, and then panels of V, 1 on the diagonal and 0 above
	t       rev.General[T] // T of each panel, below each other
	scratch []qrScratch[T] // of each worker

	mu       sync.Mutex
	state    []qrState // of each strip
	reduced  int       // so many panels are there
	unformed int       // so many strips of Q are not taken
	broken   bool      // a worker has panicked
	progress atomic.Int64
}

// A qrState is how far a strip of A has come.
type qrState struct {
	taken, loaded bool
	applied       int  // so many panels are applied
	formed        bool // the strip of Q is taken
}

// qrScratch is what a worker needs.
type qrScratch[T rev.Float] struct {
	v    rev.General[T] // a panel by columns, qrPanel×m; or a strip of Q, m×qrPanel
	tau  [qrPanel]T
	x, y [qrPanel * qrPanel]T
}

// householder computes Q and R.
func (w *qrWork[T]) householder(workers int, a rev.General[T]) error {
	w.workers = workers
	w.reflectAll(a)
	if w.rescale(a) {
		w.reflectAll(w.x)
	}
	return w.finish()
}

// reflectAll is householder for columns that are far from overflow and underflow.
func (w *qrWork[T]) reflectAll(a rev.General[T]) {
	m, n := a.Rows, a.Cols
	w.a = a
	w.q, w.r = scratch(w.q, m, n), zeros(w.r, n, n)
	strips := (n + qrPanel - 1) / qrPanel
	w.strips = workspace.Grow(w.strips, strips*qrPanel*m)
	w.t = zeros(w.t, strips*qrPanel, qrPanel)
	w.state = workspace.Zeros(w.state, strips)
	w.reduced, w.unformed, w.broken = 0, strips, false
	workers := min(parallel.Workers(w.workers), strips)
	for len(w.scratch) < workers {
		w.scratch = append(w.scratch, qrScratch[T]{})
	}
	for i := range workers {
		s := &w.scratch[i]
		s.v.Data = workspace.Grow(s.v.Data, qrPanel*((m+15)&^15+8))
	}
	parallel.Run(workers, workers, &w.reflectors)
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

// Block works on strips until all are taken.
func (w *reflectors[T]) Block(worker, _ int) {
	s := &w.scratch[worker]
	ended := false
	defer func() {
		if !ended { // by a panic, and nobody shall wait for this worker
			w.mu.Lock()
			w.broken = true
			w.progress.Add(1)
			w.mu.Unlock()
		}
	}()
	for {
		switch j, q := w.take(); {
		case j < 0:
			ended = true
			return
		case q:
			w.form(s, j)
		default:
			w.advance(s, j)
		}
	}
}

// take returns the next strip to work on, of Q or else of A, or -1 if there
// will be none.
func (w *reflectors[T]) take() (j int, q bool) {
	for {
		w.mu.Lock()
		seen := w.progress.Load()
		for j := w.reduced; j < len(w.state); j++ {
			s := &w.state[j]
			if !s.taken && (!s.loaded || j == w.reduced || s.applied < w.reduced) {
				s.taken = true
				w.mu.Unlock()
				return j, false
			}
		}
		for j := w.reduced - 1; j >= 0; j-- {
			if s := &w.state[j]; !s.formed {
				s.formed = true
				w.unformed--
				w.mu.Unlock()
				return j, true
			}
		}
		done := w.unformed == 0 || w.broken
		w.mu.Unlock()
		if done {
			return -1, false
		}
		for i := 1; w.progress.Load() == seen; i++ {
			if i%1024 == 0 {
				runtime.Gosched()
			}
		}
	}
}

// advance applies to a strip of A the panels that are there, and if these are all
// before it, makes it the next panel.
func (w *reflectors[T]) advance(s *qrScratch[T], j int) {
	state := &w.state[j]
	x := w.strip(j)
	if !state.loaded {
		copyMatrix(x, block(w.a, 0, j*qrPanel, x.Rows, x.Cols))
		state.loaded = true
	}
	for {
		w.mu.Lock()
		reduced := w.reduced
		if state.applied == reduced && j != reduced {
			state.taken = false
			w.progress.Add(1)
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
		for ; state.applied < reduced; state.applied++ {
			k := state.applied * qrPanel
			w.apply(s, state.applied, x.Rows-k, block(x, k, 0, x.Rows-k, x.Cols), true)
		}
		if state.applied == j {
			w.reduce(s, j)
			w.mu.Lock()
			w.reduced++
			w.progress.Add(1)
			w.mu.Unlock()
			return
		}
	}
}

// form computes a strip of Q.
func (w *reflectors[T]) form(s *qrScratch[T], j int) {
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
			rows = x.Cols // of the identity that are not zero
		}
		w.apply(s, i, rows, block(x, k, 0, m-k, x.Cols), false)
	}
	copyMatrix(block(w.q, 0, lo, m, x.Cols), x)
}

// apply computes X <- (I - V·T·Vᵀ)·X, or with Tᵀ, for a panel and a block X of
// the rows of that panel, which is zero from some row on.
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

// factor reduces n columns of the panel at k, from column lo on, which are rows of
// s.v, and sets their block of T. It halves them: with V1 and T1 of the first
// half and V2 and T2 of the second,
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

// reflect is factor for a few columns, one by one.
func (w *reflectors[T]) reflect(s *qrScratch[T], k, lo, n int) {
	for j := lo; j < lo+n; j++ {
		row := s.v.Row(j)
		x := row[j:]
		alpha, length := x[0], norm2Of(x[1:])
		if length < abs(alpha)/64 && length <= 10*epsilon[T]()*w.top(k, k+j, row[:j+1]) {
			clear(x[1:])
			length = 0
		}
		s.tau[j] = 0
		if length != 0 {
			// The sign for which α - β does not cancel; of an α that may be 0 but for
			// rounding, that of 0.
			beta := -norm2Of([]T{alpha, length})
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

// top returns the largest magnitude in column j of R, of which the first rows are in
// place and rest has the others.
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

// norm2Of returns ‖x‖, without overflow or underflow on the way.
func norm2Of[T rev.Float](x []T) T {
	s := vec.SumSquares(x)
	low, high := T(0x1p-80), T(0x1p120)
	if s > low && s < high {
		return sqrt(s)
	}
	top := T(0)
	for _, v := range x {
		if v = abs(v); v > top || math.IsNaN(float64(v)) {
			top = v
		}
	}
	if top == 0 || !isFinite(float64(top)) {
		return top
	}
	// In float64 squares of quotients lose nothing that counts.
	sum := 0.0
	for _, v := range x {
		q := float64(v) / float64(top)
		sum += float64(q * q)
	}
	return T(float64(top) * math.Sqrt(sum))
}

// gemmTransposed computes c += a·bᵀ.
func gemmTransposed[T rev.Float](a, b, c rev.General[T]) {
	dense.Gemm(a.Rows, b.Rows, a.Cols, 1, a.Data, a.Stride, 1, b.Data, 1, b.Stride, c.Data, c.Stride)
}
