package revlinalg

import (
	"math/bits"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/workspace"
	"revnum/rev"
)

// MatMul is the kernel
//
//	C += op(A)·op(B)
//
// where op(A) is m×k, op(B) is k×n, and op(X) is X or, if TransA or TransB is
// set, Xᵀ. Writing A and B for op(A) and op(B), the derivatives are
//
//	Ā += C̄·Bᵀ,  B̄ += Aᵀ·C̄,  Ċ += Ȧ·B + A·Ḃ
//
// and, of second order, with Ġ the tangent of C̄,
//
//	Ǡ += Ġ·Bᵀ + C̄·Ḃᵀ,  Ḃ̄ += Aᵀ·Ġ + Ȧᵀ·C̄.
//
// In floating point an element of the product is within k·ε·Σ|a_il·b_lj|. If k
// is above 256 it is added to C in several parts, so that Inverse restores C
// within a unit in the last place of the largest value on the way for each of
// them.
//
// In fixed point an element of the product, and of each product above, is exact
// and rounded once, to nearest. It is meaningful if it is below 2²⁰, and wraps
// if it is not (what wraps on the way does no harm).
//
// The bits do not depend on the number of workers, which share the rows or
// the columns of the results.
//
// Each of Ā, B̄ and the uncomputation of C is a product of as many operations as
// Forward, so that Adjoint takes about three times as long as Forward, and twice if
// C in the receiver is nil, as then it is not uncomputed. The products read their
// operands in different orders and share no copies of them.
type MatMul[T rev.Real] struct {
	C              rev.General[T] `rev:"acc"`
	A              rev.General[T] `rev:"in"`
	B              rev.General[T] `rev:"in"`
	TransA, TransB bool
	Workers        int // 0 means GOMAXPROCS
}

// NewMatMul returns the kernel over gonum matrices, sharing their storage. Each
// of a and b is a *mat.Dense or the transpose of one, as its method T returns
// it; another type panics. It panics with mat.ErrShape if the operands do not
// fit together.
func NewMatMul(c *mat.Dense, a, b mat.Matrix) MatMul[float64] {
	k := MatMul[float64]{C: rev.ViewDense(c)}
	k.A, k.TransA = factor(a)
	k.B, k.TransB = factor(b)
	k.checkShape()
	return k
}

// factor returns the storage of m, and whether it is that of the transpose.
func factor(m mat.Matrix) (rev.General[float64], bool) {
	trans := false
	if t, ok := m.(mat.Untransposer); ok {
		m, trans = t.Untranspose(), true
	}
	return rev.ViewDense(m.(*mat.Dense)), trans
}

func (k *MatMul[T]) checkShape() {
	a, b := k.a(), k.b()
	if k.C.Data == nil {
		k.C.Rows, k.C.Cols = a.rows, b.cols // those of its cotangent
	}
	if a.cols != b.rows || k.C.Rows != a.rows || k.C.Cols != b.cols {
		panic(mat.ErrShape)
	}
}

func (k *MatMul[T]) check() {
	rev.Check(k)
	k.checkShape()
}

// a and b return op(A) and op(B).
func (k *MatMul[T]) a() strided[T] { return view(k.A, k.TransA) }
func (k *MatMul[T]) b() strided[T] { return view(k.B, k.TransB) }

// A strided matrix has element (i, j) at data[i*rs+j*cs].
type strided[T rev.Real] struct {
	rows, cols int
	data       []T
	rs, cs     int
}

// view returns m or its transpose.
func view[T rev.Real](m rev.General[T], trans bool) strided[T] {
	s := strided[T]{m.Rows, m.Cols, m.Data, m.Stride, 1}
	if trans {
		return s.t()
	}
	return s
}

// t returns the transpose of s.
func (s strided[T]) t() strided[T] { return strided[T]{s.cols, s.rows, s.data, s.cs, s.rs} }

// Forward computes C += A·B.
func (k MatMul[T]) Forward() {
	k.check()
	k.multiply(k.C, 1, k.a(), k.b())
}

// Inverse computes C -= A·B.
func (k MatMul[T]) Inverse() {
	k.check()
	k.multiply(k.C, -1, k.a(), k.b())
}

// Adjoint computes C -= A·B and Ā += C̄·Bᵀ, B̄ += Aᵀ·C̄.
func (k MatMul[T]) Adjoint(g MatMul[T]) {
	k.check()
	rev.CheckLike(&k, &g)
	c := product[T]{c: k.C, sign: -1, a: k.a(), b: k.b()}
	ga, gb := k.gradients(&g, g.C, k.a(), k.b())
	k.run(c, ga, gb)
}

// gradients returns gc·bᵀ and aᵀ·gc, which are added to the cotangents of A and B
// in g.
func (k *MatMul[T]) gradients(g *MatMul[T], gc rev.General[T], a, b strided[T]) (ga, gb product[T]) {
	c := view(gc, false)
	ga, gb = product[T]{c: g.A, sign: 1, a: c, b: b.t()}, product[T]{c: g.B, sign: 1, a: a.t(), b: c}
	if k.TransA {
		ga.a, ga.b = b, c.t()
	}
	if k.TransB {
		gb.a, gb.b = c.t(), a
	}
	return ga, gb
}

// Tangent computes C += A·B and Ċ += Ȧ·B + A·Ḃ.
func (k MatMul[T]) Tangent(t MatMul[T]) {
	k.check()
	rev.CheckLike(&k, &t)
	k.run(
		product[T]{c: k.C, sign: 1, a: k.a(), b: k.b()},
		product[T]{c: t.C, sign: 1, a: view(t.A, k.TransA), b: k.b()})
	k.multiply(t.C, 1, k.a(), view(t.B, k.TransB))
}

// AdjointTangent computes what Adjoint does, Ċ -= Ȧ·B + A·Ḃ, and the tangents
// of the gradient in gt.
func (k MatMul[T]) AdjointTangent(g, t, gt MatMul[T]) {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	ta, tb := view(t.A, k.TransA), view(t.B, k.TransB)
	c := product[T]{c: k.C, sign: -1, a: k.a(), b: k.b()}
	ga, gb := k.gradients(&g, g.C, k.a(), k.b())
	// Each result of the second run but those of ga and gb is one of the first.
	gta, gtb := k.gradients(&gt, gt.C, k.a(), k.b())
	k.run(product[T]{c: t.C, sign: -1, a: k.a(), b: tb}, gta, gtb, c)
	gta, gtb = k.gradients(&gt, g.C, ta, tb)
	k.run(product[T]{c: t.C, sign: -1, a: ta, b: k.b()}, gta, gtb, ga, gb)
}

// multiply computes C += sign·A·B, or nothing if one of them is nil.
func (k *MatMul[T]) multiply(c rev.General[T], sign int, a, b strided[T]) {
	k.run(product[T]{c: c, sign: sign, a: a, b: b})
}

// run computes products, all of them at once unless they have a result in common.
func (k *MatMul[T]) run(list ...product[T]) {
	w := workspace.Get[products[T]]()
	for _, p := range list {
		if p.c.Data == nil || p.a.data == nil || p.b.data == nil || p.c.Rows == 0 || p.c.Cols == 0 || p.a.cols == 0 {
			continue
		}
		for i := range w.list {
			if &w.list[i].c.Data[0] == &p.c.Data[0] { // the gradient of C += A·A
				w.run(k.Workers)
				break
			}
		}
		w.list = append(w.list, p)
	}
	w.run(k.Workers)
	workspace.Put(w)
}

// products are products in progress.
type products[T rev.Real] struct {
	list    []product[T]
	scratch []fixedTiles
}

// A product is C += sign·A·B, in blocks.
type product[T rev.Real] struct {
	c          rev.General[T]
	sign       int
	a, b       strided[T]
	rows, cols int // of a block
	down       int // blocks in a column of them
	blocks     int
}

// run computes the products and leaves none.
func (w *products[T]) run(workers int) {
	if len(w.list) == 0 {
		return
	}
	workers = parallel.Workers(workers)
	blocks := 0
	for i := range w.list {
		parts := 1
		if workers > 1 {
			parts = (2*workers-1)/len(w.list) + 1
		}
		w.list[i].cut(workers, parts)
		blocks += w.list[i].blocks
	}
	workers = min(workers, blocks)
	if isFixed[T]() {
		w.scratch = workspace.Grow(w.scratch, workers)
	}
	parallel.Run(workers, blocks, w)
	clear(w.list)
	w.list = w.list[:0]
}

// stripe is how many columns a block of a wide product has at least, and
// minColumns one whose columns of B are copied.
const (
	stripe     = 256
	minColumns = 48
)

// cut sets the blocks, some parts or fewer. An element of C is the same bits
// whatever block it is in, so they may depend on the number of workers.
//
// A block copies its columns of B if they are not rows of vectors, so that these
// are what is shared out; of large factors it copies both, and those of B cost
// more.
func (p *product[T]) cut(workers, parts int) {
	m, n, k := p.c.Rows, p.c.Cols, p.a.cols
	p.rows, p.cols = m, n
	switch {
	case parts == 1:
	case p.b.cs != 1 && n >= minColumns*parts:
		p.cols = blockSize(n, parts, m*k)
	case n >= max(m, stripe*parts):
		p.cols = blockSize(n, parts, m*k)
	case n >= max(m, stripe*workers):
		p.cols = blockSize(n, workers, m*k)
	default:
		p.rows = blockSize(m, parts, n*k)
	}
	// There are no blocks of so few rows or columns that Gemm would take them
	// another way.
	p.down = max(1, (m+p.rows-dense.GemmRows)/p.rows)
	p.blocks = p.down * max(1, (n+p.cols-dense.GemmCols)/p.cols)
}

// blockSize returns the size of the blocks that cut n rows or columns, each of
// so much work, into the given number of parts, or into fewer if they were small.
func blockSize(n, parts, work int) int {
	parts = min(parts, max(1, n/(1<<18/work+1)))
	return ((n-1)/parts + dense.GemmRows) / dense.GemmRows * dense.GemmRows
}

// Block computes a block of one of the products.
func (w *products[T]) Block(worker, block int) {
	i := 0
	for block >= w.list[i].blocks {
		block -= w.list[i].blocks
		i++
	}
	var tiles *fixedTiles
	if isFixed[T]() {
		tiles = &w.scratch[worker]
	}
	w.list[i].block(block, tiles)
}

// block computes a block of C.
func (p *product[T]) block(block int, tiles *fixedTiles) {
	i, j := block%p.down*p.rows, block/p.down*p.cols
	m, n, k := p.rows, p.cols, p.a.cols
	if p.c.Rows-i < m+dense.GemmRows {
		m = p.c.Rows - i
	}
	if p.c.Cols-j < n+dense.GemmCols {
		n = p.c.Cols - j
	}
	c, a, b := p.c.Data[i*p.c.Stride+j:], p.a.data[i*p.a.rs:], p.b.data[j*p.b.cs:]
	switch c := any(c).(type) {
	case []float64:
		dense.Gemm(m, n, k, float64(p.sign), any(a).([]float64), p.a.rs, p.a.cs, any(b).([]float64), p.b.rs, p.b.cs, c, p.c.Stride)
	case []float32:
		dense.Gemm(m, n, k, float32(p.sign), any(a).([]float32), p.a.rs, p.a.cs, any(b).([]float32), p.b.rs, p.b.cs, c, p.c.Stride)
	case []fixed.Q43:
		a, b := any(a).([]fixed.Q43), any(b).([]fixed.Q43)
		for i := 0; i < m; i += tile {
			for j := 0; j < n; j += tile {
				tiles.clear()
				for l := 0; l < k; l += tileDepth {
					depth := min(tileDepth, k-l)
					tiles.a.load(a[i*p.a.rs+l*p.a.cs:], min(tile, m-i), depth, p.a.rs, p.a.cs)
					tiles.b.load(b[j*p.b.cs+l*p.b.rs:], min(tile, n-j), depth, p.b.cs, p.b.rs)
					tiles.multiply(depth)
				}
				tiles.store(c[i*p.c.Stride+j:], p.c.Stride, k, p.sign)
			}
		}
	}
}

// The product of fixed-point matrices is that of tiles, each of which is summed
// in 128 bits. There is no signed product of words in Go, so a tile takes
// integers x for x' = x + 2⁶³, which are not negative. Then, modulo 2¹²⁸,
//
//	Σ x·y = Σ x'·y' - 2⁶³·(Σ x' + Σ y') + k·2¹²⁶
//
// where the sums over one factor are taken once for a row or column of a tile.

const (
	tile      = 32  // rows and columns of a tile of C
	tileDepth = 128 // products that are summed before the next part of A and B is loaded
)

type fixedTiles struct {
	a, b fixedTile // rows of A, columns of B
	sum  [tile * tile]word128
}

// A fixedTile holds rows of A or columns of B, each after the other, and their
// sums.
type fixedTile struct {
	n    int // rows or columns
	x    [tile * tileDepth]uint64
	sums [tile]word128
}

type word128 struct{ hi, lo uint64 }

func (t *fixedTiles) clear() {
	clear(t.a.sums[:])
	clear(t.b.sums[:])
	clear(t.sum[:])
}

// load takes n rows of the given length from x, where element (i, l) is
// x[i*rs+l*cs].
func (t *fixedTile) load(x []fixed.Q43, n, length, rs, cs int) {
	t.n = n
	for i := range n {
		row := t.x[i*tileDepth:][:length]
		s := t.sums[i]
		for l := range row {
			v := uint64(x[i*rs+l*cs]) ^ 1<<63
			row[l] = v
			var c uint64
			s.lo, c = bits.Add64(s.lo, v, 0)
			s.hi += c
		}
		t.sums[i] = s
	}
}

// multiply adds the products of what is loaded.
func (t *fixedTiles) multiply(length int) {
	for i := range t.a.n {
		a := t.a.x[i*tileDepth:][:length]
		sum := t.sum[i*tile:][:t.b.n]
		j := 0
		for ; j+1 < len(sum); j += 2 {
			b0 := t.b.x[j*tileDepth:][:len(a)]
			b1 := t.b.x[(j+1)*tileDepth:][:len(a)]
			var c uint64
			h0, l0, h1, l1 := sum[j].hi, sum[j].lo, sum[j+1].hi, sum[j+1].lo
			for l, v := range a {
				hi, lo := bits.Mul64(v, b0[l])
				l0, c = bits.Add64(l0, lo, 0)
				h0, _ = bits.Add64(h0, hi, c)
				hi, lo = bits.Mul64(v, b1[l])
				l1, c = bits.Add64(l1, lo, 0)
				h1, _ = bits.Add64(h1, hi, c)
			}
			sum[j], sum[j+1] = word128{h0, l0}, word128{h1, l1}
		}
		if j < len(sum) {
			b := t.b.x[j*tileDepth:][:len(a)]
			s := sum[j]
			for l, v := range a {
				hi, lo := bits.Mul64(v, b[l])
				var c uint64
				s.lo, c = bits.Add64(s.lo, lo, 0)
				s.hi, _ = bits.Add64(s.hi, hi, c)
			}
			sum[j] = s
		}
	}
}

// store adds sign times the sums of k products, rounded, to c.
func (t *fixedTiles) store(c []fixed.Q43, stride, k, sign int) {
	for i := range t.a.n {
		row := c[i*stride:][:t.b.n]
		for j := range row {
			lo, carry := bits.Add64(t.a.sums[i].lo, t.b.sums[j].lo, 0)
			hi := t.a.sums[i].hi + t.b.sums[j].hi + carry
			hi, lo = hi<<63|lo>>1, lo<<63 // times 2⁶³
			s := t.sum[i*tile+j]
			var borrow uint64
			lo, borrow = bits.Sub64(s.lo, lo, 0)
			hi = s.hi - hi - borrow + uint64(k)<<62
			v := round(hi, lo)
			if sign < 0 {
				v = -v
			}
			row[j] += v
		}
	}
}

// round returns the sum hi·2⁶⁴ + lo of products, rounded to nearest, ties to
// even, and wrapped.
func round(hi, lo uint64) fixed.Q43 {
	const f = fixed.FracBits
	lo, c := bits.Add64(lo, 1<<(f-1)-1+lo>>f&1, 0)
	return fixed.Q43((hi+c)<<(64-f) | lo>>f)
}
