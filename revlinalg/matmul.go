package revlinalg

import (
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/vector"
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
// and, of second order,
//
//	ġA += ġC·Bᵀ + C̄·Ḃᵀ,  ġB += Aᵀ·ġC + Ȧᵀ·C̄.
//
// In floating point an element of the product is within k·ε·Σ|a_il·b_lj|. If k is above
// 256, it is added to C in several parts. Inverse restores C within one unit in the
// last place, of the largest value on the way, for each part.
//
// In fixed point an element of the product, and of each product above, is exact and
// rounded once to nearest. It wraps at ±2²⁰. Intermediate sums may wrap without harm.
//
// Workers share the rows or columns of the results. The bits do not depend on their
// number.
//
// Ā, B̄ and the uncomputation of C take as many operations each as Forward. Adjoint
// therefore takes about three times as long, or twice if C is nil and is not
// uncomputed. The products read their operands in different orders and share no copies.
type MatMul[T rev.Real] struct {
	C              rev.General[T] `rev:"acc" shape:"m,n"`
	A              rev.General[T] `rev:"in" shape:"TransA ? k,m : m,k"`
	B              rev.General[T] `rev:"in" shape:"TransB ? n,k : k,n"`
	TransA, TransB bool
	Workers        int // 0 means GOMAXPROCS
}

// NewMatMul returns the kernel that adds to c, over gonum matrices, sharing their
// storage. Each of a and b is a *mat.Dense, a *mat.VecDense (a matrix of one column), the
// transpose of one as its method T returns it, or nil. Other matrices, such as a
// *mat.SymDense, panic. Copy them to a *mat.Dense. Derivatives are stored as the operands:
// give a transpose only where the kernel has one. Methods panic if it has none there.
func NewMatMul(c *mat.Dense, a, b mat.Matrix) MatMul[float64] {
	k := MatMul[float64]{C: rev.ViewDense(c)}
	k.A, k.TransA = factor[MatMul[float64]]("A", a)
	k.B, k.TransB = factor[MatMul[float64]]("B", b)
	return k
}

// factor returns the storage of m, an operand of the kernel type K, and whether m is its
// transpose.
func factor[K any](operand string, m mat.Matrix) (storage rev.General[float64], trans bool) {
	switch m := m.(type) {
	case nil:
		return rev.ViewDense(nil), false
	case *mat.Dense:
		return rev.ViewDense(m), false
	case *mat.VecDense:
		return asColumn(rev.ViewVec(m)), false
	case mat.Untransposer:
		storage, trans = factor[K](operand, m.Untranspose())
		return storage, !trans
	}
	panic(rev.ShapeError[K](operand, "is a %T, which does not store all elements: copy it to a *mat.Dense", m))
}

// checkLayout panics if a kernel of derivatives has a flag that the kernel does not have. The
// derivative would then be stored in another way than the operand.
func checkLayout[K any](operand, flag string, k, g, t, gt bool) {
	if k || !g && !t && !gt {
		return
	}
	prefix := "gt."
	if g {
		prefix = "g."
	} else if t {
		prefix = "t."
	}
	panic(rev.ShapeError[K](prefix+operand, "is %s, but %s is not", flag, operand))
}

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

// matMulRun is Run of MatMul. It returns no error.
func matMulRun[T rev.Real](k *MatMul[T], p *rev.Pass[MatMul[T]]) error {
	if p.Adjoint || p.Tangent {
		checkLayout[MatMul[T]]("A", "transposed", k.TransA, p.G.TransA, p.T.TransA, p.GT.TransA)
		checkLayout[MatMul[T]]("B", "transposed", k.TransB, p.G.TransB, p.T.TransB, p.GT.TransB)
	}
	a, b := view(k.A, k.TransA), view(k.B, k.TransB)
	w := workspace.Get[*products[T]]()
	w.workers = k.Workers
	w.add(k.C, p.Sign(), a, b)
	if p.Adjoint {
		matMulAddGradients(k, w, p.G.C, a, b, &p.G)
	}
	if p.Tangent {
		ta, tb := view(p.T.A, k.TransA), view(p.T.B, k.TransB)
		w.add(p.T.C, p.Sign(), ta, b)
		if p.Adjoint {
			matMulAddGradients(k, w, p.GT.C, a, b, &p.GT)
		}
		w.add(p.T.C, p.Sign(), a, tb)
		if p.Adjoint {
			matMulAddGradients(k, w, p.G.C, ta, tb, &p.GT)
		}
	}
	w.run()
	workspace.Put(w)
	return nil
}

// matMulRunChecked is RunChecked of MatMul. It finds elements of C. Workers share the product.
func matMulRunChecked[T rev.Real](k *MatMul[T], back bool) error {
	if !number.IsFixed[T]() || k.C.Data == nil {
		return matMulRun(k, &rev.Pass[MatMul[T]]{Back: back})
	}
	sign, a, b := signOf(back), view(k.A, k.TransA), view(k.B, k.TransB)
	return vector.RunChecked(*k, back, func() bool {
		w := workspace.Get[*products[T]]()
		w.workers, w.checks = k.Workers, true
		w.overflow.Store(false)
		w.add(k.C, sign, a, b)
		w.run()
		fits := !w.overflow.Load()
		w.checks = false
		workspace.Put(w)
		return fits
	}, func() *rev.OverflowError {
		q := number.Fixed[T]
		if i, j := fixedpoint.GemmOverflow(a.rows, b.cols, a.cols, sign, q(a.data), a.rs, a.cs, q(b.data), b.rs, b.cs, nil, q(k.C.Data), k.C.Stride); i >= 0 {
			return rev.Overflow[MatMul[T]]("C", i, j)
		}
		return nil
	})
}

// matMulRunEach makes a pass over n problems and returns n, or 0 if it does not make this pass. pass points to it, and second and
// secondPass to the kernel and the pass of the second problem. RunEach is for package rules, and checks nothing: if the
// operands are not those of problems that lie at the same distances, it reads and writes other memory.
func matMulRunEach[T rev.Real](k *MatMul[T], pass, second, secondPass any, n int) int {
	p, next, q := *pass.(*rev.Pass[MatMul[T]]), *second.(*MatMul[T]), *secondPass.(*rev.Pass[MatMul[T]])
	e := vector.Each{N: n}
	a, ga := batchOf(&e, k.A, next.A, k.TransA), batchOf(&e, p.G.A, q.G.A, false)
	b, gb := batchOf(&e, k.B, next.B, k.TransB), batchOf(&e, p.G.B, q.G.B, false)
	c, gc := batchOf(&e, k.C, next.C, false), batchOf(&e, p.G.C, q.G.C, false)
	transposed := p.G.TransA && !k.TransA || p.G.TransB && !k.TransB // Run panics
	if e.Bad || p.Tangent || transposed || k.Workers < 0 || float64(a.rows)*float64(a.cols)*float64(b.cols) >= minShared {
		return 0
	}
	multiplyEach(n, c, p.Sign(), a, b)
	if k.TransA {
		multiplyEach(n, ga, 1, b, gc.t())
	} else {
		multiplyEach(n, ga, 1, gc, b.t())
	}
	if k.TransB {
		multiplyEach(n, gb, 1, gc.t(), a)
	} else {
		multiplyEach(n, gb, 1, a.t(), gc)
	}
	return n
}

// A batch has a matrix of each of many problems.
type batch[T rev.Real] struct {
	strided[T] // the first
	all        vector.Many[T]
}

func batchOf[T rev.Real](e *vector.Each, x, next rev.General[T], trans bool) batch[T] {
	return batch[T]{view(x, trans), vector.Matrices(e, x, next)}
}

// t returns the transposes.
func (b batch[T]) t() batch[T] { return batch[T]{b.strided.t(), b.all} }

// multiplyEach computes the small products C += sign·A·B of n problems, as add does.
func multiplyEach[T rev.Real](n int, c batch[T], sign int, a, b batch[T]) {
	if c.data == nil || a.data == nil || b.data == nil || c.rows == 0 || c.cols == 0 || a.cols == 0 {
		return
	}
	for i := range n {
		accumulate(c.rows, c.cols, a.cols, sign, a.all.Data(i), a.rs, a.cs, b.all.Data(i), b.rs, b.cs, c.all.Data(i), c.rs)
	}
}

// matMulAddGradients adds gc·bᵀ and aᵀ·gc to the cotangents of A and B in g.
func matMulAddGradients[T rev.Real](k *MatMul[T], w *products[T], gc rev.General[T], a, b strided[T], g *MatMul[T]) {
	c := view(gc, false)
	if k.TransA {
		w.add(g.A, 1, b, c.t())
	} else {
		w.add(g.A, 1, c, b.t())
	}
	if k.TransB {
		w.add(g.B, 1, c.t(), a)
	} else {
		w.add(g.B, 1, a.t(), c)
	}
}

// products are products in progress.
type products[T rev.Real] struct {
	workers  int
	list     []product[T]
	checks   bool        // over fixed.Q43
	overflow atomic.Bool // whether a checked element was out of range
}

// A product is C += sign·A·B, in blocks.
type product[T rev.Real] struct {
	c          rev.General[T]
	sign       int
	a, b       strided[T]
	rows, cols int // of a block
	down       int // blocks in a column
	blocks     int
}

// add adds the product C += sign·A·B, and runs it at once if it is small. It does nothing if an
// operand is nil. If an earlier product has the same result, as Ā and B̄ of C += A·A may have, it runs the
// earlier ones first.
func (w *products[T]) add(c rev.General[T], sign int, a, b strided[T]) {
	if c.Data == nil || a.data == nil || b.data == nil || c.Rows == 0 || c.Cols == 0 || a.cols == 0 {
		return
	}
	for i := range w.list {
		if &w.list[i].c.Data[0] == &c.Data[0] {
			w.run()
			break
		}
	}
	if float64(c.Rows)*float64(c.Cols)*float64(a.cols) < minShared && w.workers >= 0 { // run panics
		p := product[T]{c, sign, a, b, c.Rows, c.Cols, 1, 1}
		parallel.CheckInterrupt()
		w.block(&p, 0)
		return
	}
	w.list = append(w.list, product[T]{c: c, sign: sign, a: a, b: b})
}

// run computes all products and removes them.
func (w *products[T]) run() {
	if len(w.list) == 0 {
		return
	}
	workers := parallel.Workers(w.workers)
	blocks := 0
	for i := range w.list {
		parts := 1
		if workers > 1 {
			parts = (2*workers-1)/len(w.list) + 1
		}
		w.list[i].cut(workers, parts)
		blocks += w.list[i].blocks
	}
	parallel.Run(workers, blocks, w)
	clear(w.list)
	w.list = w.list[:0]
}

// Below minShared multiplications, finding another worker takes longer than the product.
const minShared = 1 << 16

// stripe is the least number of columns of a block of a wide product. minColumns is the
// least number if columns of B are copied.
const (
	stripe     = 256
	minColumns = 48
)

// cut sets the blocks: parts of them, or fewer. The bits of an element of C do not
// depend on its block, so blocks may depend on the number of workers.
//
// If the rows of B are not contiguous, each block copies its part of B. The blocks are
// then cut by columns, so that no part is copied twice. Wide products are cut by
// columns too: of large factors each block copies both, and copying B costs more.
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
	// Blocks never have so few rows or columns that Gemm would handle them in another
	// way.
	p.down = max(1, (m+p.rows-dense.GemmRows)/p.rows)
	p.blocks = p.down * max(1, (n+p.cols-dense.GemmCols)/p.cols)
}

// blockSize returns the size of the blocks that cut n rows or columns, each of so much
// work, into the given number of parts, or into fewer if blocks would be small.
func blockSize(n, parts, work int) int {
	parts = min(parts, max(1, n/(1<<18/work+1)))
	return ((n-1)/parts + dense.GemmRows) / dense.GemmRows * dense.GemmRows
}

// Block computes a block of one of the products.
func (w *products[T]) Block(_, block int) {
	i := 0
	for block >= w.list[i].blocks {
		block -= w.list[i].blocks
		i++
	}
	w.block(&w.list[i], block)
}

// block computes a block of C.
func (w *products[T]) block(p *product[T], block int) {
	i, j := block%p.down*p.rows, block/p.down*p.cols
	m, n, k := p.rows, p.cols, p.a.cols
	if p.c.Rows-i < m+dense.GemmRows {
		m = p.c.Rows - i
	}
	if p.c.Cols-j < n+dense.GemmCols {
		n = p.c.Cols - j
	}
	a, b, c := p.a.data[i*p.a.rs:], p.b.data[j*p.b.cs:], p.c.Data[i*p.c.Stride+j:]
	if !w.checks {
		accumulate(m, n, k, p.sign, a, p.a.rs, p.a.cs, b, p.b.rs, p.b.cs, c, p.c.Stride)
		return
	}
	q := number.Fixed[T]
	if !fixedpoint.GemmFits(m, n, k, p.sign, q(a), p.a.rs, p.a.cs, q(b), p.b.rs, p.b.cs, q(c), p.c.Stride) {
		w.overflow.Store(true)
	}
}

// accumulate computes C += sign·A·B, where A is m×k, B is k×n and C is by rows.
func accumulate[T rev.Real](m, n, k, sign int, a []T, rsa, csa int, b []T, rsb, csb int, c []T, ldc int) {
	switch c := any(c).(type) {
	case []float64:
		dense.GemmNarrow(m, n, k, float64(sign), any(a).([]float64), rsa, csa, any(b).([]float64), rsb, csb, c, ldc)
	case []float32:
		dense.GemmNarrow(m, n, k, float32(sign), any(a).([]float32), rsa, csa, any(b).([]float32), rsb, csb, c, ldc)
	case []fixed.Q43:
		fixedpoint.Gemm(m, n, k, sign, any(a).([]fixed.Q43), rsa, csa, any(b).([]fixed.Q43), rsb, csb, c, ldc)
	}
}
