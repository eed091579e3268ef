package revlog

import (
	"math"

	"revnum/internal/logs"
	"revnum/internal/logstep"
	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// MatMul is the kernel
//
//	C ⊕= A·B,  that is  c_ij' = log(e^c_ij + Σ_l e^(a_il+b_lj)),
//
// of matrices of logs, the product of the matrices of the numbers: the step of
// the sum-product algorithm on chains, trees and hidden Markov models. With
// w_ilj = e^(a_il+b_lj-c_ij'), the share of a term in the new value of c_ij,
//
//	Ā_il += Σ_j C̄_ij'·w_ilj,  B̄_lj += Σ_i C̄_ij'·w_ilj,
//	C̄_ij = C̄_ij'·e^(c_ij-c_ij'),
//	ċ_ij' = ċ_ij·e^(c_ij-c_ij') + Σ_l w_ilj·(ȧ_il + ḃ_lj),
//	ġA_il += Σ_j w_ilj·(ġC_ij' + C̄_ij'·(ȧ_il + ḃ_lj - ċ_ij')),
//
// and likewise ġB_lj, summed over i. For probabilities the shares are posteriors,
// and the gradients are expected counts.
//
// # Accuracy
//
// Let α be the largest log in row i of A, and β the largest in column j of B. For k
// terms, a log s_ij of the product is within
//
//	(2·|α+β| + 2·|s_ij| + 3·(α+β-s_ij) + 2·log k + k + 16)·2⁻⁵³ + ε·|s_ij|/2
//
// where α+β-s_ij counts as at most 300, and ε is 2⁻⁵² or 2⁻²³. Everything is computed
// in float64. The shares in c_ij' sum to e^(s_ij-c_ij') within (k+4)·ε, relatively, and
// to 1 if c_ij was -Inf. Shares below 2⁻⁵⁰⁰ may be 0.
//
// Zeros (-Inf), +Inf and NaN behave as in any product of matrices: an element with a
// factor +Inf or NaN is +Inf or NaN, and 0·∞ is NaN.
//
// # Method
//
// With α_i and β_j as above,
//
//	s_ij = α_i + β_j + log p_ij,  P = e^(A-α)·e^(B-β).
//
// P is a product of real matrices whose elements are at most 1. It takes most of the
// time. If all terms of p_ij are tiny, it loses accuracy or is 0. If p_ij is below
// 2⁻⁴⁰⁰, or α_i or β_j is not finite, s_ij is therefore computed as in Dot. That takes
// about fifteen times as long as an element of P. It may happen to all of C, if no row
// of A meets a column of B near its largest log. The derivatives are products of real
// matrices too, because
//
//	w_ilj = e^(a_il-α_i)·e^(b_lj-β_j)·v_ij,  v_ij = e^(s_ij-c_ij')/p_ij <= 2⁴⁰⁰,
//
// For the elements that are computed as in Dot, the terms are added one by one.
//
// The scratch is as large as A, B and C together in float64, and twice that with
// tangents. Each element that is computed as in Dot takes five more numbers. The
// scratch is kept for the next call.
type MatMul[T rev.Float] struct {
	C       rev.General[T] `rev:"inout" shape:"m,n"`
	A       rev.General[T] `rev:"in" shape:"m,k"`
	B       rev.General[T] `rev:"in" shape:"k,n"`
	Workers int            // 0 means GOMAXPROCS
}

// matMulRun is Run of MatMul. It returns no error. The inverse of Adjoint is the exception: it
// may return rev.ErrUnsupported.
func matMulRun[T rev.Float](k *MatMul[T], p *rev.Pass[MatMul[T]]) error {
	if k.C.Rows == 0 || k.C.Cols == 0 || k.A.Cols == 0 {
		return nil // the product is zero, and C does not change
	}
	if !p.Back && (p.G.C.Data != nil || p.GT.C.Data != nil) && matMulLost(k) {
		return rev.ErrUnsupported
	}
	w := workspace.Get[*matMul[T]]()
	w.k, w.g, w.gt, w.back = *k, p.G, p.GT, p.Back
	if p.T.C.Data != nil || p.GT.C.Data != nil || p.G.C.Data != nil { // else no derivative needs it
		w.t = p.T
	}
	workers := parallel.Workers(k.Workers)
	w.open(workers)
	rowBlocks, colBlocks := blocksOf(w.m, blockRows), blocksOf(w.n, blockCols)
	w.fork(workers, expA, rowBlocks)
	w.fork(workers, expB, colBlocks)
	w.fork(workers, cells, rowBlocks*colBlocks)
	if len(w.gc) > 0 && (p.G.A.Data != nil || p.GT.A.Data != nil) {
		w.fork(workers, gradA, rowBlocks)
	}
	if len(w.gc) > 0 && (p.G.B.Data != nil || p.GT.B.Data != nil) {
		w.fork(workers, gradB, colBlocks)
	}
	w.k, w.g, w.t, w.gt = MatMul[T]{}, MatMul[T]{}, MatMul[T]{}, MatMul[T]{}
	workspace.Put(w)
	return nil
}

// matMulLost reports whether Adjoint lost a cotangent of C.
func matMulLost[T rev.Float](k *MatMul[T]) bool {
	for i := range k.C.Rows {
		a := k.A.Row(i)
		for j, c := range k.C.Row(i) {
			for l := 0; l < len(a) && logstep.IsZero(c); l++ {
				if logstep.Lost(c, a[l]+k.B.Data[l*k.B.Stride+j]) {
					return true
				}
			}
		}
	}
	return false
}

const (
	// The size of the blocks of C.
	blockRows = 64
	blockCols = 128
	// tiny is the least p_ij that is used.
	tiny = 0x1p-400
)

// matMul is a pass of MatMul.
type matMul[T rev.Float] struct {
	k, g, t, gt MatMul[T]
	back        bool
	task        matMulTask
	m, n, l     int // C is m×n, and the sums are of l terms

	alpha, beta []float64
	ea, eb      []float64       // e^(A-α) and e^(B-β), 0 if α or β is not finite
	ta, tb      []float64       // ea·Ȧ and eb·Ḃ by elements, empty without tangents
	gc, hc      []float64       // v_ij times the factors of w_ilj in the gradient and in its tangent
	direct      [][]directEntry // the elements of each block whose p_ij is not used
	scratch     []*matMulScratch
}

// A directEntry is an element of C whose p_ij is not used.
type directEntry struct {
	i, j        int
	top         float64 // m, the largest term
	seed, dseed float64 // v times the results of logstep.Cotangent
}

// matMulScratch is the scratch of a worker.
type matMulScratch struct {
	// For a block of C. If p_ij is not used, p has Σ e^(t_l-m), and top has m.
	p, s, top, after, kept, sigma []float64
	direct                        []bool
	anyDirect                     bool

	shift, v []float64 // of a row of a block

	row, col, dcol []float64 // vectors of l terms
	terms, w       []float64
	g, h           []float64 // a block of the derivatives by A or B
}

type matMulTask int

const (
	expA matMulTask = iota // blocks of rows
	expB                   // blocks of columns
	cells
	gradA // blocks of rows
	gradB // blocks of columns
)

func blocksOf(n, size int) int { return (n + size - 1) / size }

// open makes room for a call.
func (w *matMul[T]) open(workers int) {
	m, n, l := w.k.C.Rows, w.k.C.Cols, w.k.A.Cols
	w.m, w.n, w.l = m, n, l
	size := func(n int, needed bool) int {
		if needed {
			return n
		}
		return 0
	}
	cotangents := w.g.C.Data != nil || w.gt.C.Data != nil
	second := w.gt.A.Data != nil || w.gt.B.Data != nil
	w.alpha, w.beta = workspace.Grow(w.alpha, m), workspace.Grow(w.beta, n)
	w.ea, w.eb = workspace.Grow(w.ea, m*l), workspace.Grow(w.eb, l*n)
	w.ta = workspace.Grow(w.ta, size(m*l, w.t.A.Data != nil))
	w.tb = workspace.Grow(w.tb, size(l*n, w.t.B.Data != nil))
	w.gc = workspace.Grow(w.gc, size(m*n, cotangents))
	w.hc = workspace.Grow(w.hc, size(m*n, cotangents && second))

	blocks := blocksOf(m, blockRows) * blocksOf(n, blockCols)
	w.direct = workspace.Grow(w.direct, max(len(w.direct), blocks))
	rows, cols := min(m, blockRows), min(n, blockCols)
	for len(w.scratch) < min(workers, blocks) {
		w.scratch = append(w.scratch, new(matMulScratch))
	}
	for _, s := range w.scratch[:min(workers, blocks)] {
		for _, b := range [...]*[]float64{&s.p, &s.s, &s.top, &s.after, &s.kept, &s.sigma} {
			*b = workspace.Grow(*b, rows*cols)
		}
		s.direct = workspace.Grow(s.direct, rows*cols)
		s.shift, s.v, s.row = workspace.Grow(s.shift, cols), workspace.Grow(s.v, cols), workspace.Grow(s.row, max(l, cols))
		s.col, s.dcol, s.terms, s.w = workspace.Grow(s.col, l), workspace.Grow(s.dcol, l), workspace.Grow(s.terms, l), workspace.Grow(s.w, l)
		s.g = workspace.Grow(s.g, size(max(rows, cols)*l, cotangents))
		s.h = workspace.Grow(s.h, size(max(rows, cols)*l, cotangents && second))
	}
}

func (w *matMul[T]) fork(workers int, task matMulTask, blocks int) {
	w.task = task
	parallel.Run(workers, blocks, w)
}

// Block runs the task on a block.
func (w *matMul[T]) Block(worker, block int) {
	s := w.scratch[worker]
	switch w.task {
	case expA:
		w.expA(s, block)
	case expB:
		w.expB(s, block)
	case cells:
		w.cells(s, block)
	case gradA:
		w.gradA(s, block)
	case gradB:
		w.gradB(s, block)
	}
}

// widened returns x in float64: x itself, or a copy in buf.
func widened[T rev.Float](buf []float64, x []T) []float64 {
	if x, ok := any(x).([]float64); ok {
		return x
	}
	buf = buf[:len(x)]
	for i, v := range x {
		buf[i] = float64(v)
	}
	return buf
}

// columnInto stores column j of m in dst.
func columnInto[T rev.Float](dst []float64, m rev.General[T], j int) {
	for i := range dst {
		dst[i] = float64(m.Data[i*m.Stride+j])
	}
}

func isFinite(x float64) bool { return x-x == 0 }

func (w *matMul[T]) expA(s *matMulScratch, block int) {
	l := w.l
	for i := block * blockRows; i < min((block+1)*blockRows, w.m); i++ {
		a, e := widened(s.row, w.k.A.Row(i)), w.ea[i*l:(i+1)*l]
		w.alpha[i] = vec.Max(a)
		if isFinite(w.alpha[i]) {
			vec.ExpShiftSum(e, a, w.alpha[i])
		} else {
			w.alpha[i] = 0
			clear(e)
		}
		if len(w.ta) > 0 {
			vec.MulTo(w.ta[i*l:(i+1)*l], e, widened(s.row, w.t.A.Row(i)))
		}
	}
}

func (w *matMul[T]) expB(s *matMulScratch, block int) {
	n := w.n
	lo, hi := block*blockCols, min((block+1)*blockCols, n)
	beta := w.beta[lo:hi]
	for j := range beta {
		beta[j] = math.Inf(-1)
	}
	for l := range w.l {
		vec.MaxTo(beta, beta, widened(s.row, w.k.B.Row(l)[lo:hi]))
	}
	for l := range w.l {
		vec.ExpSubTo(w.eb[l*n+lo:l*n+hi], widened(s.row, w.k.B.Row(l)[lo:hi]), beta)
	}
	for j, b := range beta {
		if !isFinite(b) {
			beta[j] = 0
			for l := range w.l {
				w.eb[l*n+lo+j] = 0
			}
		}
	}
	if len(w.tb) > 0 {
		for l := range w.l {
			vec.MulTo(w.tb[l*n+lo:l*n+hi], w.eb[l*n+lo:l*n+hi], widened(s.row, w.t.B.Row(l)[lo:hi]))
		}
	}
}

// cells computes a block of C and its derivatives. It stores in gc, hc and direct what
// the derivatives by A and B need.
func (w *matMul[T]) cells(s *matMulScratch, block int) {
	i0, j0, rows, cols := w.block(block)
	l, n := w.l, w.n
	clear(s.p)
	dense.Gemm(rows, cols, l, 1, w.ea[i0*l:], l, 1, w.eb[j0:], n, 1, s.p, cols)
	s.anyDirect = false
	for i := range rows {
		p, direct := s.p[i*cols:(i+1)*cols], s.direct[i*cols:(i+1)*cols]
		for j, v := range p {
			direct[j] = !(v >= tiny)
			if direct[j] {
				p[j] = 1
				s.anyDirect = true
			}
		}
		sums := s.s[i*cols : (i+1)*cols]
		vec.Log(sums, p)
		vec.AddTo(sums, sums, w.shifts(s, i0+i, j0, cols))
	}
	w.eachDirect(s, block, func(c, i, _ int) {
		t := w.terms(s, i)
		m := vec.Max(t)
		s.top[c], s.s[c] = m, m
		if isFinite(m) {
			s.p[c] = vec.SumExp(t, m)
			s.s[c] += logs.Log(s.p[c])
		}
	})

	derivatives := len(w.gc) > 0 || w.t.C.Data != nil
	for i := range rows {
		z := w.k.C.Row(i0 + i)[j0 : j0+cols]
		for j := range z {
			c := i*cols + j
			v := T(s.s[c])
			before, after := logstep.Step(&z[j], v, w.back)
			if derivatives {
				s.s[c], s.after[c], s.kept[c] = float64(v), float64(after), logstep.Kept(before, after, v)
			}
		}
	}
	if derivatives {
		w.cellDerivatives(s, block)
	}
}

// block returns where a block of C begins, and its shape.
func (w *matMul[T]) block(block int) (i0, j0, rows, cols int) {
	colBlocks := blocksOf(w.n, blockCols)
	i0, j0 = block/colBlocks*blockRows, block%colBlocks*blockCols
	return i0, j0, min(blockRows, w.m-i0), min(blockCols, w.n-j0)
}

// shifts returns α_i + β_j for a row of a block.
func (w *matMul[T]) shifts(s *matMulScratch, i, j0, cols int) []float64 {
	shift := s.shift[:cols]
	for j, b := range w.beta[j0 : j0+cols] {
		shift[j] = w.alpha[i] + b
	}
	return shift
}

// eachDirect calls f for the elements of a block whose p_ij is not used. It passes the
// index in the block and the index in C, with column j of B in s.col.
func (w *matMul[T]) eachDirect(s *matMulScratch, block int, f func(c, i, j int)) {
	if !s.anyDirect {
		return
	}
	i0, j0, rows, cols := w.block(block)
	for j := range cols {
		loaded := false
		for i := range rows {
			if !s.direct[i*cols+j] {
				continue
			}
			if !loaded {
				columnInto(s.col[:w.l], w.k.B, j0+j)
				loaded = true
			}
			f(i*cols+j, i0+i, j0+j)
		}
	}
}

// terms returns a_il + b_lj for all l, column j of B being in s.col.
func (w *matMul[T]) terms(s *matMulScratch, i int) []float64 {
	t := s.terms[:w.l]
	vec.AddTo(t, widened(s.row, w.k.A.Row(i)), s.col[:w.l])
	return t
}

// exps returns e^(a_il+b_lj-m) for all l, column j of B being in s.col.
func (w *matMul[T]) exps(s *matMulScratch, i int, m float64) []float64 {
	e := s.w[:w.l]
	vec.ExpShiftSum(e, w.terms(s, i), m)
	return e
}

// tangents returns ȧ_il + ḃ_lj for all l, column j of Ḃ being in s.dcol.
func (w *matMul[T]) tangents(s *matMulScratch, i int) []float64 {
	d := s.terms[:w.l]
	clear(d)
	if len(w.ta) > 0 {
		vec.AddTo(d, d, widened(s.row, w.t.A.Row(i)))
	}
	if len(w.tb) > 0 {
		vec.AddTo(d, d, s.dcol[:w.l])
	}
	return d
}

// cellDerivatives is the part of cells that follows the change of C.
func (w *matMul[T]) cellDerivatives(s *matMulScratch, block int) {
	i0, j0, rows, cols := w.block(block)
	l, n := w.l, w.n
	clear(s.sigma)
	if len(w.ta) > 0 {
		dense.Gemm(rows, cols, l, 1, w.ta[i0*l:], l, 1, w.eb[j0:], n, 1, s.sigma, cols)
	}
	if len(w.tb) > 0 {
		dense.Gemm(rows, cols, l, 1, w.ea[i0*l:], l, 1, w.tb[j0:], n, 1, s.sigma, cols)
	}
	if len(w.ta) > 0 || len(w.tb) > 0 {
		w.eachDirect(s, block, func(c, i, j int) {
			s.sigma[c] = 0
			if math.IsInf(s.top[c], -1) {
				return
			}
			if len(w.tb) > 0 {
				columnInto(s.dcol[:l], w.t.B, j)
			}
			e := w.exps(s, i, s.top[c])
			s.sigma[c] = vec.Dot(e, w.tangents(s, i))
		})
	}
	for i := range rows {
		v := s.v[:cols]
		vec.ExpSubTo(v, s.s[i*cols:(i+1)*cols], s.after[i*cols:(i+1)*cols])
		for j := range v {
			c := i*cols + j
			if s.s[c] == s.after[c] {
				v[j] = 1 // of infinity too
			}
			v[j] /= s.p[c]
			dBefore, dAfter := logstep.Tangent(cellAt(w.t.C, i0+i, j0+j), s.kept[c], float64(v[j]*s.sigma[c]), w.back)
			if len(w.gc) == 0 {
				continue
			}
			seed, dseed := logstep.Cotangent(cellAt(w.g.C, i0+i, j0+j), cellAt(w.gt.C, i0+i, j0+j), s.kept[c], dBefore, dAfter, w.back)
			seed, dseed = seed*v[j], dseed*v[j]
			if s.direct[c] {
				s.after[c], s.sigma[c] = seed, dseed // for the entry
				seed, dseed = 0, 0
			}
			w.gc[(i0+i)*n+j0+j] = seed
			if len(w.hc) > 0 {
				w.hc[(i0+i)*n+j0+j] = dseed
			}
		}
	}
	entries := w.direct[block][:0]
	w.eachDirect(s, block, func(c, i, j int) {
		if len(w.gc) > 0 && !math.IsInf(s.top[c], -1) {
			entries = append(entries, directEntry{i, j, s.top[c], s.after[c], s.sigma[c]})
		}
	})
	w.direct[block] = entries
}

// cellAt returns element (i, j) of m, or nil if m is absent.
func cellAt[T rev.Float](m rev.General[T], i, j int) *T {
	if m.Data == nil {
		return nil
	}
	return &m.Data[i*m.Stride+j]
}

// gradA adds to rows of Ā the following, with G = gc and H = hc, and what the direct
// elements contribute:
//
//	ea·(G·ebᵀ)  and  ea·(H·ebᵀ + G·tbᵀ) + ta·(G·ebᵀ)
//
// Here ea· and ta· are products by elements.
func (w *matMul[T]) gradA(s *matMulScratch, block int) {
	l, n := w.l, w.n
	i0 := block * blockRows
	rows := min(blockRows, w.m-i0)
	second := w.gt.A.Data != nil
	g := s.g[:rows*l]
	clear(g)
	dense.Gemm(rows, l, n, 1, w.gc[i0*n:], n, 1, w.eb, 1, n, g, l)
	var h []float64
	if second {
		h = s.h[:rows*l]
		clear(h)
		dense.Gemm(rows, l, n, 1, w.hc[i0*n:], n, 1, w.eb, 1, n, h, l)
		if len(w.tb) > 0 {
			dense.Gemm(rows, l, n, 1, w.gc[i0*n:], n, 1, w.tb, 1, n, h, l)
		}
		vec.MulTo(h, h, w.ea[i0*l:(i0+rows)*l])
		if len(w.ta) > 0 {
			addProducts(h, w.ta[i0*l:(i0+rows)*l], g)
		}
	}
	vec.MulTo(g, g, w.ea[i0*l:(i0+rows)*l])
	colBlocks := blocksOf(n, blockCols)
	for b := block * colBlocks; b < (block+1)*colBlocks; b++ {
		w.eachEntry(s, b, second, func(x *directEntry, e, d []float64) {
			row := (x.i - i0) * l
			vec.Axpy(x.seed, e, g[row:row+l])
			if second {
				vec.AddTo(h[row:row+l], h[row:row+l], d)
			}
		})
	}
	for i := range rows {
		addRow(w.g.A, i0+i, 0, g[i*l:(i+1)*l])
		if second {
			addRow(w.gt.A, i0+i, 0, h[i*l:(i+1)*l])
		}
	}
}

// gradB adds to columns of B̄ as gradA does to rows of Ā:
//
//	eb·(eaᵀ·G)  and  eb·(eaᵀ·H + taᵀ·G) + tb·(eaᵀ·G).
func (w *matMul[T]) gradB(s *matMulScratch, block int) {
	l, m, n := w.l, w.m, w.n
	j0 := block * blockCols
	cols := min(blockCols, n-j0)
	second := w.gt.B.Data != nil
	g := s.g[:l*cols]
	clear(g)
	dense.Gemm(l, cols, m, 1, w.ea, 1, l, w.gc[j0:], n, 1, g, cols)
	var h []float64
	if second {
		h = s.h[:l*cols]
		clear(h)
		dense.Gemm(l, cols, m, 1, w.ea, 1, l, w.hc[j0:], n, 1, h, cols)
		if len(w.ta) > 0 {
			dense.Gemm(l, cols, m, 1, w.ta, 1, l, w.gc[j0:], n, 1, h, cols)
		}
	}
	for r := range l {
		eb := w.eb[r*n+j0 : r*n+j0+cols]
		g := g[r*cols : (r+1)*cols]
		if second {
			h := h[r*cols : (r+1)*cols]
			vec.MulTo(h, h, eb)
			if len(w.tb) > 0 {
				addProducts(h, w.tb[r*n+j0:r*n+j0+cols], g)
			}
		}
		vec.MulTo(g, g, eb)
	}
	colBlocks := blocksOf(n, blockCols)
	for b := block; b < len(w.direct[:colBlocks*blocksOf(m, blockRows)]); b += colBlocks {
		w.eachEntry(s, b, second, func(x *directEntry, e, d []float64) {
			for r, v := range e {
				g[r*cols+x.j-j0] += float64(x.seed * v)
			}
			for r, v := range d {
				h[r*cols+x.j-j0] += v
			}
		})
	}
	for r := range l {
		addRow(w.g.B, r, j0, g[r*cols:(r+1)*cols])
		if second {
			addRow(w.gt.B, r, j0, h[r*cols:(r+1)*cols])
		}
	}
}

// eachEntry calls f for the direct elements of a block. It passes e^(a_il+b_lj-m) for
// all l and, for second derivatives, what they add to ġA and ġB.
func (w *matMul[T]) eachEntry(s *matMulScratch, block int, second bool, f func(x *directEntry, e, d []float64)) {
	j := -1
	for n := range w.direct[block] {
		x := &w.direct[block][n]
		if x.j != j {
			j = x.j
			columnInto(s.col[:w.l], w.k.B, j)
			if second && len(w.tb) > 0 {
				columnInto(s.dcol[:w.l], w.t.B, j)
			}
		}
		e := w.exps(s, x.i, x.top)
		if !second {
			f(x, e, nil)
			continue
		}
		d := w.tangents(s, x.i)
		for r, v := range e {
			d[r] = float64(v * (x.dseed + float64(x.seed*d[r])))
		}
		f(x, e, d)
	}
}

// addProducts computes dst_i += x_i·y_i.
func addProducts(dst, x, y []float64) {
	for i, v := range x {
		dst[i] += float64(v * y[i])
	}
}

// addRow adds d to row i of m from column j on, if m is there.
func addRow[T rev.Float](m rev.General[T], i, j int, d []float64) {
	if m.Data == nil {
		return
	}
	row := m.Row(i)[j : j+len(d)]
	if row, ok := any(row).([]float64); ok {
		vec.AddTo(row, row, d)
		return
	}
	for c, v := range d {
		row[c] += T(v)
	}
}
