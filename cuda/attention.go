package cuda

import (
	"math"
	"slices"
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
// Over float64 with heads of up to 64 columns, cards of compute capability 8.0 and later keep no scores in memory,
// but for the second order. Y, or Y with Ẏ, is one launch, in which each query goes over its keys once, on tensor
// cores. Gradients take three launches. The first makes 1/Σ exp and D_i = Σ_l Ȳ_il·O_il of each query, where O = P·V.
// The second computes P and R again, for some keys and all queries. The third adds up Q̄. If the heads
// of all sequences are fewer than 65, blocks share the keys of a head, up to 128 of all heads, and each share has a Q̄
// in scratch memory: of all queries, or of a piece of those of a sequence, so that all have at most 2²⁵ numbers. Each
// piece takes a second and a third launch.
// Σ_j |V_jl| over the keys must be in range. D_i is rounded for itself, so that R - D does not cancel as it would with
// exact sums: with one key S̄ is 0, but here of the size ε·Σ_l |Ȳ_il·V_jl|.
//
// Else a pass takes blocks of queries, all heads of a sequence at once, and computes P of a block and all keys again.
// Scratch memory has a matrix of a block, another for tangents, another with cotangents, and another for the second
// order: of 64 queries, or more if a matrix then has at most a million numbers. The products are those of MatMul.
// Over float32 they are rounded to float32, and what is between them is computed in float64.
//
// If Q·Kᵀ is in the range of T, an element of P has the relative error
// ((d+3)·max_j Σ_l |α·q_il·k_jl| + m/4 + 16)·ε at most, for m keys. So Y is within that and (m+1)·ε times P·|V|.
// If all scores of a query are -Inf, its row is NaN. If Heads or Sequences do not divide the columns or rows, all
// passes panic with mat.ErrShape. Causal multiplies keys that a query does not see by 0 if another query of its block
// sees them, which has 128 queries in one launch: NaN there reaches both.
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
	tangent := p.T.Q.Data != nil || p.T.K.Data != nil || p.T.V.Data != nil
	back := p.G.Y.Data != nil || p.GT.Y.Data != nil
	second := back && (tangent || p.GT.Y.Data != nil)
	uses := [4]bool{true, tangent, back, second} // of the matrices that block takes
	if !a.onTensorCores(&k) {
		a.inBlocks(&k, p, sequences, a.scores(&k, sequences, uses))
		return
	}
	var scores attentionScores[T]
	if second { // all memory before anything is written
		scores = a.scores(&k, sequences, uses)
	}
	s := a.shares(&k, &p.G, sequences)
	if a.err != nil {
		return
	}
	sizes := []uint64{uint64(k.Q.Rows / sequences), uint64(k.K.Rows / sequences), uint64(k.Q.Cols / a.heads), uint64(k.V.Cols / a.heads), uint64(a.heads), rawBits(a.scale)}
	signs := append(slices.Clip(sizes), uint64(a.sign), bit(a.causal))
	blocks := func(queries int) int { return across(k.Q.Rows/sequences, queries) * a.heads * sequences }
	if t := &p.T; tangent && t.Y.Data != nil {
		a.launchTensor("attendTangent", blocks(attendPairQueries), rowParams(k.Y, k.Q, k.K, k.V, t.Y, t.Q, t.K, t.V), signs)
		k.Y = General[T]{}
	}
	if k.Y.Data != nil || p.G.Y.Data != nil {
		a.launchTensor("attend", blocks(attendQueries), rowParams(k.Y, k.Q, k.K, k.V), signs, rowParams(p.G.Y), []uint64{uint64(s.numbers.address())})
	}
	if p.G.Y.Data != nil {
		a.gradients(&k, p.G, s, sizes)
	}
	if second {
		rest := *p
		k.Y, rest.T.Y, rest.G = General[T]{}, General[T]{}, Attention[T]{Y: p.G.Y}
		a.inBlocks(&k, &rest, sequences, scores)
	}
}

// gradients adds up Q̄, K̄ and V̄ from the numbers that attend made.
func (a *attention[T]) gradients(k *Attention[T], g Attention[T], s attentionShares[T], sizes []uint64) {
	queries, cols := int(sizes[0]), k.Q.Cols
	to := g.Q
	for first := 0; first < k.Q.Rows/queries; first += s.sequences {
		for lo := 0; lo < queries; lo += s.queries {
			hi := min(lo+s.queries, queries)
			rows, apart := s.sequences*(hi-lo), 0
			if len(s.data) > 0 {
				apart = rows * cols
				g.Q.Data, g.Q.Stride = s.data, cols
				if a.causal { // a tile of keys is not seen by all queries
					zero(a.pass, s.data[:s.count*apart])
				}
			}
			a.launchTensor("attendBack", a.heads*s.sequences*s.count, rowParams(k.Q, k.K, k.V, g.Y, g.Q, g.K, g.V),
				[]uint64{uint64(s.numbers.address())}, sizes,
				[]uint64{bit(a.causal), uint64(s.count), uint64(apart), uint64(first), uint64(lo), uint64(hi)})
			if apart > 0 {
				at := to.Data[(first*queries+lo)*to.Stride:].address()
				a.launch(typed[T]("addPartialProducts"), vectorGrid(apart), uint64(at), uint64(to.Stride), 1,
					uint64(rows), uint64(cols), uint64(s.data.address()), uint64(s.count), 1)
			}
		}
	}
}

// The sizes of the kernels on tensor cores.
const (
	attendColumns     = 64  // of a head, at most
	attendQueries     = 128 // of a block of attend
	attendPairQueries = 64  // of a block of attendTangent
	attendKeys        = 64  // of a tile of attendBack
	attendNumbers     = 3   // of a query of a head, from attend for attendBack
)

// attendBlocks is how many blocks of attendBack keep a card busy.
var attendBlocks = 128

// onTensorCores reports whether there are kernels for all heads without scores in memory.
func (a *attention[T]) onTensorCores(k *Attention[T]) bool {
	_, double := any(*new(T)).(float64)
	return double && a.dev != nil && a.dev.Properties().Capability >= 80 && k.Q.Cols > 0 && max(k.Q.Cols, k.V.Cols) <= attendColumns*a.heads
}

// launchTensor launches such a kernel.
func (a *attention[T]) launchTensor(kernel string, blocks int, params ...[]uint64) {
	if a.dev.Properties().Capability >= 90 {
		kernel += "Hopper"
	}
	a.launch(typed[T](kernel), grid{[3]int{blocks, 1, 1}, [3]int{maxThreads, 1, 1}}, slices.Concat(params...)...)
}

// attendScratch is how many numbers all Q̄ in scratch memory have at most, but for those of attendKeys queries.
var attendScratch = 1 << 25

// attentionShares are scratch memory of attendBack: its numbers of queries, and a Q̄ for each of count shares of the
// keys. If there are enough heads, a head has one share, which adds to Q̄ itself. A launch is of so many sequences, and
// queries of each: of all, or of one sequence and some of its queries, whose Q̄ fit in scratch memory.
type attentionShares[T rev.Float] struct {
	numbers, data             Memory[T]
	count, sequences, queries int
}

func (a *attention[T]) shares(k, g *Attention[T], sequences int) (s attentionShares[T]) {
	if g.Y.Data == nil {
		return s
	}
	tiles := across(k.K.Rows/sequences, attendKeys)
	count := func(sequences int) int { return min(tiles, max(1, attendBlocks/(a.heads*sequences))) }
	s = attentionShares[T]{count: count(sequences), sequences: sequences, queries: k.Q.Rows / sequences}
	all := 0
	if g.Q.Data != nil && s.count > 1 {
		if s.count*k.Q.Rows*k.Q.Cols > attendScratch {
			s.sequences, s.count = 1, count(1)
			s.queries = min(s.queries, max(1, attendScratch/(s.count*k.Q.Cols*attendKeys))*attendKeys)
		}
		all = s.count * s.sequences * s.queries * k.Q.Cols
	}
	n := attendNumbers * k.Q.Rows * a.heads
	if m := memoryAt[T](a.room(2, (n+all)*int(unsafe.Sizeof(*new(T)))), n+all); m != nil {
		s.numbers, s.data = m[:n], m[n:]
	}
	return s
}

// attentionScores are scratch memory for scores of a number of queries. A matrix of them has size numbers, for all heads.
type attentionScores[T rev.Float] struct {
	uses    [4]bool
	queries int
	size    int
	data    Memory[T]
}

func (a *attention[T]) scores(k *Attention[T], sequences int, uses [4]bool) attentionScores[T] {
	queries, keys := k.Q.Rows/sequences, k.K.Rows/sequences
	s := attentionScores[T]{uses: uses, queries: min(queries, max(attentionBlocks.queries, attentionBlocks.numbers/(a.heads*keys)))}
	s.size = a.heads * s.queries * keys
	all := 0
	for _, used := range uses {
		if used {
			all += s.size
		}
	}
	s.data = memoryAt[T](a.room(1, all*int(unsafe.Sizeof(*new(T)))), all)
	return s
}

// inBlocks makes a pass for one block of queries after the other.
func (a *attention[T]) inBlocks(of *Attention[T], p *rev.Pass[Attention[T]], sequences int, s attentionScores[T]) {
	if s.data == nil {
		return
	}
	queries, keys := of.Q.Rows/sequences, of.K.Rows/sequences
	for sequence := range sequences {
		k, g, t, gt := a.side(of, sequence, sequences), a.side(&p.G, sequence, sequences), a.side(&p.T, sequence, sequences), a.side(&p.GT, sequence, sequences)
		for lo := 0; lo < queries; lo += s.queries {
			rows, seen := min(s.queries, queries-lo), keys
			if a.causal {
				seen = min(keys, lo+rows)
			}
			var scores [4]stack[T]
			at := 0
			for i := range scores {
				if s.uses[i] {
					scores[i] = stack[T]{strided[T]{rows, seen, s.data[at : at+a.heads*rows*seen], seen, 1}, rows * seen}
					at += s.size
				}
			}
			part := func(s attentionSide[T]) attentionSide[T] {
				return attentionSide[T]{rowsOf(s.y, lo, lo+rows), rowsOf(s.q, lo, lo+rows), rowsOf(s.k, 0, seen), rowsOf(s.v, 0, seen)}
			}
			a.block(lo, p.Adjoint, scores, part(k), part(g), part(t), part(gt))
		}
	}
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
