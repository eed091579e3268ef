package revnn

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/rev/num"
)

// Attention is the kernel
//
//	Y += P·V,  P_i = softmax(S_i),  S = α·Q·Kᵀ
//
// of queries Q, keys K and values V, which are rows. If Causal is set, S_ij is -∞ for j > i. If
// Heads is set, the columns of each matrix are divided among so many heads, and each head has an
// attention of its own. If Sequences is set, the rows are divided likewise. α is Scale, or
// 1/√d for heads of d columns in Q.
//
// With R = Ȳ·Vᵀ and D_i = Σ_j P_ij·R_ij, the derivatives are, in each head,
//
//	S̄ = P∘(R - D),  Q̄ += α·S̄·K,  K̄ += α·S̄ᵀ·Q,  V̄ += Pᵀ·Ȳ,
//	Ẏ += Ṗ·V + P·V̇,  Ṗ = P∘(Ṡ - r),  Ṡ = α·(Q̇·Kᵀ + Q·K̇ᵀ),  r_i = Σ_j P_ij·Ṡ_ij
//
// and, of second order, with Ṙ = ġY·Vᵀ + Ȳ·V̇ᵀ and the tangent Ḋ of D,
//
//	ġS = Ṗ∘(R - D) + P∘(Ṙ - Ḋ),  ġQ += α·(ġS·K + S̄·K̇),  ġK += α·(ġSᵀ·Q + S̄ᵀ·Q̇),
//	ġV += Ṗᵀ·Ȳ + Pᵀ·ġY.
//
// No matrix of n×m is formed, for n queries and m keys. A pass takes blocks of 64 queries by 256
// keys. The sums over keys are rescaled when the maximum of a row grows. The adjoint computes the
// blocks of S again, and gets D_i as the product of the rows i of Ȳ and P·V. Scratch memory is linear
// in n and m.
//
// An element of P has the relative error ((d+2)·max_j Σ_l |α·q_il·k_jl| + m + 8)·ε at most. So Y is
// within that times P·|V|. If all scores of a query are -Inf, its row is NaN. If Heads or Sequences
// do not divide the columns or rows, all passes panic with mat.ErrShape. Workers share the heads and
// the sequences, and parts of the queries if heads times sequences is below 8. Causal multiplies
// keys that a query does not see by 0 if another query of its block of 64 sees them: NaN there
// reaches both.
//
// Sources: M. N. Rabe and C. Staats, Self-attention does not need O(n²) memory, arXiv 2112.05682;
// T. Dao et al., FlashAttention, arXiv 2205.14135.
type Attention[T rev.Float] struct {
	Y         rev.General[T] `rev:"acc" shape:"n,e"`
	Q         rev.General[T] `rev:"in" shape:"n,c"`
	K         rev.General[T] `rev:"in" shape:"m,c"`
	V         rev.General[T] `rev:"in" shape:"m,e"`
	Heads     int            // 0 means 1
	Sequences int            // 0 means 1
	Scale     float64        // 0 means 1/√(c/Heads)
	Causal    bool
	Workers   int // 0 means GOMAXPROCS
}

// NewAttention returns the kernel of one head that adds to y, over gonum matrices, sharing their
// storage.
func NewAttention(y, q, k, v *mat.Dense) Attention[float64] {
	return Attention[float64]{Y: rev.ViewDense(y), Q: rev.ViewDense(q), K: rev.ViewDense(k), V: rev.ViewDense(v)}
}

const (
	attentionQueries = 64  // of a block
	attentionKeys    = 256 // of a block
	attentionItems   = 8   // of work, at least if there are as many blocks of queries
)

// An attentionPass is a pass in progress.
type attentionPass[T rev.Float] struct {
	k, g, t, gt attentionHead[T] // of all heads and sequences

	heads, sequences            int
	queries, keys, depth, width int // of a head: n, m, and the columns of Q and V
	sign, scale                 T
	causal                      bool
	tangent                     bool // there is Q̇, K̇ or V̇
	back, second                bool // gradients are computed, and their tangents
	parts                       int  // of the queries of a head
	partial                     []T  // K̄, V̄, ġK and ġV of each part, if there are several
	room                        []attentionRoom[T]
}

// An attentionHead has the operands of a head.
type attentionHead[T rev.Float] struct{ y, q, k, v rev.General[T] }

// An attentionRoom has the matrices of a block of queries, and of a block of them and keys.
type attentionRoom[T rev.Float] struct {
	q, tq, o, to, gy, gty []T
	s, ts, r, gs, tr      []T

	top, sum, rate, d, td [attentionQueries]T // maxima of rows of S, sums of exp(S - top), and r, D and Ḋ
}

func attentionOperands[T rev.Float](k *Attention[T]) attentionHead[T] {
	return attentionHead[T]{k.Y, k.Q, k.K, k.V}
}

// attentionRun is Run of Attention. It returns no error.
func attentionRun[T rev.Float](k *Attention[T], p *rev.Pass[Attention[T]]) error {
	heads, sequences := max(1, k.Heads), max(1, k.Sequences)
	divides := func(operand, what string, size, n int) {
		if n < 0 || size%max(1, n) != 0 {
			panic(rev.ShapeError[Attention[T]](operand, "has %d %s, want a multiple of %d", size, what, n))
		}
	}
	divides("Q", "columns", k.Q.Cols, k.Heads)
	divides("V", "columns", k.V.Cols, k.Heads)
	divides("Q", "rows", k.Q.Rows, k.Sequences)
	divides("K", "rows", k.K.Rows, k.Sequences)
	if k.Q.Rows == 0 || k.K.Rows == 0 || k.V.Cols == 0 {
		return nil
	}

	w := workspace.Get[*attentionPass[T]]()
	w.k, w.g, w.t, w.gt = attentionOperands(k), attentionOperands(&p.G), attentionOperands(&p.T), attentionOperands(&p.GT)
	w.heads, w.sequences = heads, sequences
	w.queries, w.keys, w.depth, w.width = k.Q.Rows/sequences, k.K.Rows/sequences, k.Q.Cols/heads, k.V.Cols/heads
	w.causal, w.sign, w.scale = k.Causal, T(p.Sign()), T(k.Scale)
	if k.Scale == 0 {
		w.scale = T(1 / math.Sqrt(float64(max(1, w.depth))))
	}
	w.tangent = w.t.q.Data != nil || w.t.k.Data != nil || w.t.v.Data != nil
	w.second = w.gt.y.Data != nil || w.g.y.Data != nil && w.tangent && p.Adjoint
	w.back = w.g.y.Data != nil || w.second

	pairs := heads * sequences
	w.parts = min(w.blocks(), (attentionItems+pairs-1)/pairs)
	w.partial = w.partial[:0]
	if w.parts > 1 && w.back {
		w.partial = workspace.Zeros(w.partial, pairs*w.parts*w.partSize())
	}
	workers := min(parallel.Workers(k.Workers), pairs*w.parts)
	w.room = workspace.Grow(w.room, max(len(w.room), workers))
	for i := range workers {
		w.room[i].grow(min(w.queries, attentionQueries), min(w.keys, attentionKeys), w.depth, w.width)
	}
	parallel.Run(workers, pairs*w.parts, w)
	if len(w.partial) > 0 {
		for item := range pairs * w.parts {
			g, gt := w.head(&w.g, item/w.parts), w.head(&w.gt, item/w.parts)
			pg, pgt := w.partsOf(item)
			addMatrix(g.k, 1, pg.k)
			addMatrix(g.v, 1, pg.v)
			addMatrix(gt.k, 1, pgt.k)
			addMatrix(gt.v, 1, pgt.v)
		}
	}
	w.k, w.g, w.t, w.gt = attentionHead[T]{}, attentionHead[T]{}, attentionHead[T]{}, attentionHead[T]{} // without the caller's storage
	workspace.Put(w)
	return nil
}

// grow makes room for blocks of n queries and m keys.
func (r *attentionRoom[T]) grow(n, m, d, e int) {
	for _, v := range [...]*[]T{&r.q, &r.tq} {
		*v = workspace.Grow(*v, n*d)
	}
	for _, v := range [...]*[]T{&r.o, &r.to, &r.gy, &r.gty} {
		*v = workspace.Grow(*v, n*e)
	}
	for _, v := range [...]*[]T{&r.s, &r.ts, &r.r, &r.gs, &r.tr} {
		*v = workspace.Grow(*v, n*m)
	}
}

// blocks returns the number of blocks of queries of a head.
func (w *attentionPass[T]) blocks() int {
	return (w.queries + attentionQueries - 1) / attentionQueries
}

// partSize returns the number of elements of K̄, V̄, ġK and ġV of a part.
func (w *attentionPass[T]) partSize() int { return 2 * w.keys * (w.depth + w.width) }

// head returns the operands of a head of a sequence. The heads of a sequence come first.
func (w *attentionPass[T]) head(all *attentionHead[T], pair int) attentionHead[T] {
	sequence, head := pair/w.heads, pair%w.heads
	of := func(m rev.General[T]) rev.General[T] {
		rows, cols := m.Rows/w.sequences, m.Cols/w.heads
		if m.Data == nil || rows*cols == 0 {
			return rev.General[T]{}
		}
		return rev.General[T]{Rows: rows, Cols: cols, Stride: m.Stride, Data: m.Data[sequence*rows*m.Stride+head*cols:]}
	}
	return attentionHead[T]{of(all.y), of(all.q), of(all.k), of(all.v)}
}

// partsOf returns the gradients by keys and values of a part of a head, without those that the pass
// does not compute.
func (w *attentionPass[T]) partsOf(item int) (g, gt attentionHead[T]) {
	rest := w.partial[item*w.partSize():][:w.partSize()]
	next := func(cols int, given rev.General[T]) (m rev.General[T]) {
		if given.Data != nil {
			m = matrixOf(rest, w.keys, cols)
		}
		rest = rest[w.keys*cols:]
		return m
	}
	g.k, g.v = next(w.depth, w.g.k), next(w.width, w.g.v)
	gt.k, gt.v = next(w.depth, w.gt.k), next(w.width, w.gt.v)
	return g, gt
}

// Block works on a part of the queries of a head.
func (w *attentionPass[T]) Block(worker, item int) {
	pair, part := item/w.parts, item%w.parts
	k, g, t, gt := w.head(&w.k, pair), w.head(&w.g, pair), w.head(&w.t, pair), w.head(&w.gt, pair)
	if len(w.partial) > 0 {
		pg, pgt := w.partsOf(item)
		g.k, g.v, gt.k, gt.v = pg.k, pg.v, pgt.k, pgt.v
	}
	for b := part * w.blocks() / w.parts; b < (part+1)*w.blocks()/w.parts; b++ {
		lo := b * attentionQueries
		w.block(&w.room[worker], lo, min(attentionQueries, w.queries-lo), &k, &g, &t, &gt)
	}
}

// block makes the pass for n queries from lo on. gy and gty are divided by the sums of exponentials.
// The exponentials then stand for P.
func (w *attentionPass[T]) block(r *attentionRoom[T], lo, n int, k, g, t, gt *attentionHead[T]) {
	q, tq := w.scaled(r.q, k.q, lo, n), w.scaled(r.tq, t.q, lo, n)
	o, to := matrixOf(r.o, n, w.width), matrixOf(r.to, n, w.width)
	w.value(r, lo, q, tq, o, to, k, t)
	addMatrix(rowsOf(k.y, lo, n), w.sign, o)
	if w.tangent {
		addMatrix(rowsOf(t.y, lo, n), w.sign, to)
	}
	if !w.back {
		return
	}

	gy, gty := matrixOf(r.gy, n, w.width), matrixOf(r.gty, n, w.width)
	for i := range n {
		scaleRow(gy.Row(i), 1/r.sum[i], rowOf(g.y, lo+i))
		r.d[i] = vec.Dot(gy.Row(i), o.Row(i))
		if w.second {
			scaleRow(gty.Row(i), 1/r.sum[i], rowOf(gt.y, lo+i))
			r.td[i] = vec.Dot(gty.Row(i), o.Row(i))
			if w.tangent {
				r.td[i] += vec.Dot(gy.Row(i), to.Row(i))
			}
		}
	}
	gq, gtq := rowsOf(g.q, lo, n), rowsOf(gt.q, lo, n)
	keys := w.keysFor(lo + n - 1)
	for j := 0; j < keys; j += attentionKeys {
		m := min(attentionKeys, keys-j)
		kj, vj, tkj, tvj := rowsOf(k.k, j, m), rowsOf(k.v, j, m), rowsOf(t.k, j, m), rowsOf(t.v, j, m)
		gkj, gvj, gtkj, gtvj := rowsOf(g.k, j, m), rowsOf(g.v, j, m), rowsOf(gt.k, j, m), rowsOf(gt.v, j, m)
		s := w.scores(r.s, q, kj, lo, n, j, m)
		exponentials(s, r.top[:n])
		p := matrixOf(r.r, n, m) // R - D
		product(p, 0, gy, false, vj, true)
		vec.SubColumn(m, p.Data, m, p.Data, m, r.d[:n])
		gs := matrixOf(r.gs, n, m)
		vec.MulTo(gs.Data, s.Data, p.Data)
		product(gvj, 1, s, true, gy, false)
		w.addScaled(gq, gs, kj)
		product(gkj, 1, gs, true, q, false)
		if !w.second {
			continue
		}

		tp := matrixOf(r.tr, n, m) // Ṙ - Ḋ, then P times it
		product(tp, 0, gty, false, vj, true)
		product(tp, 1, gy, false, tvj, true)
		vec.SubColumn(m, tp.Data, m, tp.Data, m, r.td[:n])
		vec.MulTo(tp.Data, s.Data, tp.Data)
		product(gtvj, 1, s, true, gty, false)
		if w.tangent {
			ts := w.scoreTangents(r.ts, q, tq, kj, tkj, n, m) // then Ṗ
			vec.SubColumn(m, ts.Data, m, ts.Data, m, r.rate[:n])
			vec.MulTo(ts.Data, ts.Data, s.Data)
			product(gtvj, 1, ts, true, gy, false)
			vec.AddProduct(tp.Data, 1, ts.Data, p.Data) // now ġS
		}
		w.addScaled(gtq, tp, kj)
		w.addScaled(gtq, gs, tkj)
		product(gtkj, 1, tp, true, q, false)
		product(gtkj, 1, gs, true, tq, false)
	}
}

// value computes o = P·V and, if there are tangents, to = Ṗ·V + P·V̇. It leaves the maxima, sums and
// means of the rows in r.
func (w *attentionPass[T]) value(r *attentionRoom[T], lo int, q, tq, o, to rev.General[T], k, t *attentionHead[T]) {
	n := o.Rows
	clear(o.Data)
	clear(to.Data)
	// With -Inf in its place, a block of scores of -Inf would give NaN.
	lowest := -num.Largest[T]()
	for i := range n {
		r.top[i], r.sum[i], r.rate[i] = lowest, 0, 0
	}
	keys := w.keysFor(lo + n - 1)
	for j := 0; j < keys; j += attentionKeys {
		m := min(attentionKeys, keys-j)
		kj, vj, tkj, tvj := rowsOf(k.k, j, m), rowsOf(k.v, j, m), rowsOf(t.k, j, m), rowsOf(t.v, j, m)
		s := w.scores(r.s, q, kj, lo, n, j, m)
		for i := range n {
			top := max(r.top[i], vec.Max(s.Row(i)))
			if top == r.top[i] {
				continue
			}
			if j > 0 { // rescale what is there
				f := T(math.Exp(float64(r.top[i] - top)))
				r.sum[i] = T(r.sum[i] * f)
				r.rate[i] = T(r.rate[i] * f)
				scaleRow(o.Row(i), f, o.Row(i))
				if w.tangent {
					scaleRow(to.Row(i), f, to.Row(i))
				}
			}
			r.top[i] = top
		}
		exponentials(s, r.top[:n])
		for i := range n {
			r.sum[i] += vec.Sum(s.Row(i))
		}
		product(o, 1, s, false, vj, false)
		if w.tangent {
			ts := w.scoreTangents(r.ts, q, tq, kj, tkj, n, m)
			vec.MulTo(ts.Data, ts.Data, s.Data)
			for i := range n {
				r.rate[i] += vec.Sum(ts.Row(i))
			}
			product(to, 1, ts, false, vj, false)
			product(to, 1, s, false, tvj, false)
		}
	}
	for i := range n {
		f := 1 / r.sum[i]
		r.rate[i] = T(r.rate[i] * f)
		scaleRow(o.Row(i), f, o.Row(i))
		if w.tangent {
			scaleRow(to.Row(i), f, to.Row(i))
			vec.Axpy(-r.rate[i], o.Row(i), to.Row(i))
		}
	}
}

// keysFor returns how many keys the queries up to the given one see.
func (w *attentionPass[T]) keysFor(query int) int {
	if w.causal {
		return min(w.keys, query+1)
	}
	return w.keys
}

// scaled returns α times n rows of q from lo on, or nil if q is nil.
func (w *attentionPass[T]) scaled(buf []T, q rev.General[T], lo, n int) rev.General[T] {
	if q.Data == nil {
		return rev.General[T]{}
	}
	m := matrixOf(buf, n, w.depth)
	for i := range n {
		scaleRow(m.Row(i), w.scale, q.Row(lo+i))
	}
	return m
}

// scores returns the block of S of n queries from lo on, which have the factor α, and m keys from j on.
func (w *attentionPass[T]) scores(buf []T, q, k rev.General[T], lo, n, j, m int) rev.General[T] {
	s := matrixOf(buf, n, m)
	product(s, 0, q, false, k, true)
	if w.causal {
		for i := range n {
			row := s.Row(i)
			for c := max(0, lo+i+1-j); c < len(row); c++ {
				row[c] = T(math.Inf(-1))
			}
		}
	}
	return s
}

// scoreTangents returns a block of Ṡ.
func (w *attentionPass[T]) scoreTangents(buf []T, q, tq, k, tk rev.General[T], n, m int) rev.General[T] {
	ts := matrixOf(buf, n, m)
	product(ts, 0, tq, false, k, true)
	product(ts, 1, q, false, tk, true)
	return ts
}

// addScaled computes c += α·a·b.
func (w *attentionPass[T]) addScaled(c, a, b rev.General[T]) {
	multiply(c, w.scale, a, false, b, false)
}

// exponentials computes s_ij = exp(s_ij - top_i) for a matrix without gaps.
func exponentials[T rev.Float](s rev.General[T], top []T) {
	vec.SubColumn(s.Cols, s.Data, s.Stride, s.Data, s.Stride, top)
	vec.Exp(s.Data, s.Data)
}

// product computes c = keep·c + op(a)·op(b) for a keep of 0 or 1. A factor that is nil is zero. It
// does nothing if c is nil.
func product[T rev.Float](c rev.General[T], keep int, a rev.General[T], ta bool, b rev.General[T], tb bool) {
	if keep == 0 {
		clear(c.Data) // it has no gaps
	}
	multiply(c, 1, a, ta, b, tb)
}

// multiply computes c += alpha·op(a)·op(b). It does nothing if one of them is nil.
func multiply[T rev.Float](c rev.General[T], alpha T, a rev.General[T], ta bool, b rev.General[T], tb bool) {
	if c.Data == nil || a.Data == nil || b.Data == nil {
		return
	}
	depth, rsa, csa, rsb, csb := a.Cols, a.Stride, 1, b.Stride, 1
	if ta {
		depth, rsa, csa = a.Rows, csa, rsa
	}
	if tb {
		rsb, csb = csb, rsb
	}
	dense.Gemm(c.Rows, c.Cols, depth, alpha, a.Data, rsa, csa, b.Data, rsb, csb, c.Data, c.Stride)
}

// matrixOf returns a matrix without gaps in buf.
func matrixOf[T any](buf []T, rows, cols int) rev.General[T] {
	return rev.General[T]{Rows: rows, Cols: cols, Stride: cols, Data: buf[:rows*cols]}
}

// rowsOf returns n rows of m from lo on, or nil if m is nil.
func rowsOf[T any](m rev.General[T], lo, n int) rev.General[T] {
	if m.Data == nil {
		return m
	}
	return rev.General[T]{Rows: n, Cols: m.Cols, Stride: m.Stride, Data: m.Data[lo*m.Stride:]}
}

// addMatrix computes y += alpha·x, unless y is nil.
func addMatrix[T rev.Float](y rev.General[T], alpha T, x rev.General[T]) {
	for i := range y.Rows {
		vec.Axpy(alpha, x.Row(i), y.Row(i))
	}
}

// scaleRow computes dst = alpha·x. An x of nil is zero.
func scaleRow[T rev.Float](dst []T, alpha T, x []T) {
	if x == nil {
		clear(dst)
		return
	}
	vec.ScaleTo(dst, alpha, x)
}
