package cuda

import (
	"math"
	"unsafe"

	"revnum/rev"
)

// Attention is the kernel
//
//	Y += P·V,  P_i = softmax(S_i),  S = α·Q·Kᵀ
//
// of revnn.Attention, with the same fields: queries Q, keys K and values V are rows. If Causal is set, S_ij is
// -∞ for j > i. If Heads is set, the columns of each matrix are divided among so many heads, and each head has
// an attention of its own. If Sequences is set, the rows are divided likewise. α is Scale, or 1/√d for heads of
// d columns in Q.
//
// With R = Ȳ·Vᵀ and D_i = Σ_j P_ij·R_ij, the derivatives are, in each head,
//
//	S̄ = P∘(R - D),  Q̄ += α·S̄·K,  K̄ += α·S̄ᵀ·Q,  V̄ += Pᵀ·Ȳ,
//	Ẏ += Ṗ·V + P·V̇,  Ṗ = P∘(Ṡ - r),  Ṡ = α·(Q̇·Kᵀ + Q·K̇ᵀ),  r_i = Σ_j P_ij·Ṡ_ij
//
// and, of second order, with Ṙ = ġY·Vᵀ + Ȳ·V̇ᵀ and Ḋ_i = Σ_j Ṗ_ij·R_ij + P_ij·Ṙ_ij,
//
//	ġS = Ṗ∘(R - D) + P∘(Ṙ - Ḋ),  ġQ += α·(ġS·K + S̄·K̇),  ġK += α·(ġSᵀ·Q + S̄ᵀ·Q̇),
//	ġV += Ṗᵀ·Ȳ + Pᵀ·ġY.
//
// Y over float64 with heads of up to 64 columns is one launch on cards of compute capability 8.0 and later. It goes over the
// keys of 128 queries once, on tensor cores, with a bound of the scores so far, and keeps no scores in memory. Σ_j |V_jl| over
// the keys must be in range.
//
// Else, and for derivatives, a pass takes blocks of queries, all heads of a sequence at once, and computes P of a block and all keys again.
// Scratch memory has a matrix of a block, another for tangents, another with cotangents, and another for the second
// order: of 64 queries, or more if a matrix then has at most a million numbers. The products are those of MatMul.
// Over float32 they are rounded to float32, and what is between them is computed in float64.
//
// If Q·Kᵀ is in the range of T, an element of P has the relative error ((d+3)·max_j Σ_l |α·q_il·k_jl| + m/4 + 16)·ε at
// most, for m keys. So Y is within that and (m+1)·ε times P·|V|. If all scores of a query are -Inf, its row is NaN. If Heads or Sequences do
// not divide the columns or rows, all passes panic with mat.ErrShape. Causal multiplies keys that a query does
// not see by 0 if another query of its block sees them, which has 128 queries in one launch: NaN there reaches both.
type Attention[T rev.Float] struct {
	Y         General[T] `rev:"acc" shape:"n,e"`
	Q         General[T] `rev:"in" shape:"n,c"`
	K         General[T] `rev:"in" shape:"m,c"`
	V         General[T] `rev:"in" shape:"m,e"`
	Heads     int        // 0 means 1
	Sequences int        // 0 means 1
	Scale     float64    // 0 means 1/√(c/Heads)
	Causal    bool
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k Attention[T]) Run(p rev.Pass[Attention[T]]) error {
	divides := func(operand, what string, size, n int) {
		if n < 0 || size%max(1, n) != 0 {
			panic(rev.ShapeError[Attention[T]](operand, "has %d %s, want a multiple of %d", size, what, n))
		}
	}
	divides("Q", "columns", k.Q.Cols, k.Heads)
	divides("V", "columns", k.V.Cols, k.Heads)
	divides("Q", "rows", k.Q.Rows, k.Sequences)
	divides("K", "rows", k.K.Rows, k.Sequences)
	w := begin(&k, &p)
	if k.Q.Rows > 0 && k.K.Rows > 0 && k.V.Cols > 0 {
		a := attention[T]{pass: &w, heads: max(1, k.Heads), causal: k.Causal, sign: p.Sign(), scale: k.Scale}
		a.run(k, &p, max(1, k.Sequences))
	}
	return w.end()
}

// An attention is a pass of Attention at work.
type attention[T rev.Float] struct {
	*pass
	heads  int
	causal bool
	sign   int
	scale  float64
}

// Blocks of queries have so many at least, and scratch memory for a matrix of scores so many numbers if that
// is more.
var attentionBlocks = struct{ queries, numbers int }{64, 1 << 20}

// An attentionSide has the operands, or derivatives of them, of the heads of a sequence.
type attentionSide[T rev.Float] struct{ y, q, k, v stack[T] }

func (a *attention[T]) side(k *Attention[T], sequence, sequences int) attentionSide[T] {
	of := func(m General[T]) (s stack[T]) {
		rows, cols := m.Rows/sequences, m.Cols/a.heads
		if m.Data != nil && rows*cols > 0 {
			s = stack[T]{strided[T]{rows, cols, m.Data[sequence*rows*m.Stride:], m.Stride, 1}, cols}
		}
		return s
	}
	return attentionSide[T]{of(k.Y), of(k.Q), of(k.K), of(k.V)}
}

func (a *attention[T]) run(k Attention[T], p *rev.Pass[Attention[T]], sequences int) {
	if a.scale == 0 {
		a.scale = 1 / math.Sqrt(float64(max(1, k.Q.Cols/a.heads)))
	}
	queries, keys := k.Q.Rows/sequences, k.K.Rows/sequences
	each := min(queries, max(attentionBlocks.queries, attentionBlocks.numbers/(a.heads*keys)))
	n := a.heads * each * keys
	tangent := p.T.Q.Data != nil || p.T.K.Data != nil || p.T.V.Data != nil
	back := p.G.Y.Data != nil || p.GT.Y.Data != nil
	attend := a.attendKernel(&k)
	blocks := attend == "" || tangent || back
	uses := [4]bool{blocks, tangent, back, back && (tangent || p.GT.Y.Data != nil)} // of the matrices that block takes
	matrices := 0
	for _, used := range uses {
		if used {
			matrices++
		}
	}
	var all Memory[T]
	if blocks {
		if all = memoryAt[T](a.room(1, matrices*n*int(unsafe.Sizeof(*new(T)))), matrices*n); all == nil {
			return
		}
	}
	if attend != "" {
		a.launch(attend, grid{[3]int{across(queries, attendQueries) * a.heads * sequences, 1, 1}, [3]int{maxThreads, 1, 1}}, append(rowParams(k.Y, k.Q, k.K, k.V),
			uint64(queries), uint64(keys), uint64(k.Q.Cols/a.heads), uint64(k.V.Cols/a.heads), uint64(a.heads), rawBits(a.scale), uint64(a.sign), bit(a.causal))...)
		k.Y = General[T]{}
	}
	if !blocks {
		return
	}
	for sequence := range sequences {
		k, g, t, gt := a.side(&k, sequence, sequences), a.side(&p.G, sequence, sequences), a.side(&p.T, sequence, sequences), a.side(&p.GT, sequence, sequences)
		for lo := 0; lo < queries; lo += each {
			rows, seen := min(each, queries-lo), keys
			if a.causal {
				seen = min(keys, lo+rows)
			}
			var scores [4]stack[T]
			at := 0
			for i := range scores {
				if uses[i] {
					scores[i] = stack[T]{strided[T]{rows, seen, all[at : at+a.heads*rows*seen], seen, 1}, rows * seen}
					at += n
				}
			}
			part := func(s attentionSide[T]) attentionSide[T] {
				return attentionSide[T]{rowsOf(s.y, lo, lo+rows), rowsOf(s.q, lo, lo+rows), rowsOf(s.k, 0, seen), rowsOf(s.v, 0, seen)}
			}
			a.block(lo, p.Adjoint, scores, part(k), part(g), part(t), part(gt))
		}
	}
}

// The sizes of kernel attend.
const (
	attendQueries = 128 // of a block
	attendColumns = 64  // of a head, at most
)

// attendKernel returns the kernel that computes Y without scores in memory, or nothing.
func (a *attention[T]) attendKernel(k *Attention[T]) string {
	if _, ok := any(*new(T)).(float64); !ok || a.dev == nil || k.Y.Data == nil || k.Q.Cols == 0 || max(k.Q.Cols, k.V.Cols) > attendColumns*a.heads {
		return ""
	}
	switch capability := a.dev.Properties().Capability; {
	case capability >= 90:
		return "attendHopperF64"
	case capability >= 80:
		return "attendF64"
	}
	return ""
}

// rowsOf returns rows i to j-1 of matrices, which may be nil.
func rowsOf[T any](s stack[T], i, j int) stack[T] {
	if s.data == nil {
		return s
	}
	return s.block(i, j, 0, s.cols)
}

// block makes the pass for the queries from lo on.
func (a *attention[T]) block(lo int, adjoint bool, scores [4]stack[T], k, g, t, gt attentionSide[T]) {
	tangent := t.q.data != nil || t.k.data != nil || t.v.data != nil
	second := gt.y.data != nil || g.y.data != nil && tangent && adjoint
	var p, tp, r, tr stack[T]
	p = scores[0]
	a.set(p, k.q, k.k.t())
	if tangent {
		tp = scores[1]
		a.set(tp, t.q, k.k.t())
		a.add(tp, 1, k.q, t.k.t())
	}
	rows := a.heads * p.rows
	on := grid{[3]int{min(rows, bounds.rowBlocks), 1, 1}, [3]int{bounds.threads, 1, 1}}
	scale := rawBits(a.scale)
	a.launch(typed[T]("attentionScores"), on, uint64(p.data.address()), uint64(tp.data.address()), scale, uint64(rows), uint64(p.cols), uint64(p.rows), uint64(lo), bit(a.causal))
	a.add(k.y, a.sign, p, k.v)
	a.add(t.y, a.sign, tp, k.v)
	a.add(t.y, a.sign, p, t.v)
	if g.y.data == nil && !second {
		return
	}
	r = scores[2]
	a.set(r, g.y, k.v.t())
	if second {
		tr = scores[3]
		a.set(tr, gt.y, k.v.t())
		a.add(tr, 1, g.y, t.v.t())
	}
	a.launch(typed[T]("attentionBack"), on, uint64(p.data.address()), uint64(tp.data.address()), uint64(r.data.address()), uint64(tr.data.address()), scale, uint64(rows), uint64(p.cols))
	a.add(g.q, 1, r, k.k)
	a.add(g.k, 1, r.t(), k.q)
	a.add(g.v, 1, p.t(), g.y)
	a.add(gt.q, 1, tr, k.k)
	a.add(gt.q, 1, r, t.k)
	a.add(gt.k, 1, tr.t(), k.q)
	a.add(gt.k, 1, r.t(), t.q)
	a.add(gt.v, 1, tp.t(), g.y)
	a.add(gt.v, 1, p.t(), gt.y)
}

// set computes c = a·b of each head, where what is nil counts as zero.
func (a *attention[T]) set(c, x, y stack[T]) {
	if x.data == nil || y.data == nil || x.cols == 0 {
		zero(a.pass, c.data)
		return
	}
	a.add(c, 0, x, y)
}

// add computes c += sign·x·y of each head, or c = x·y if sign is 0, unless one of them is nil.
func (a *attention[T]) add(c stack[T], sign int, x, y stack[T]) {
	launchProducts(a.pass, a.heads, c, sign, x, y, a.heads*x.cols, whole)
}
