package cuda

import (
	"strconv"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// QR is the kernel
//
//	Q += Q(A),  R += R(A),  Q(A)·R(A) = A
//
// of revlinalg.QR, with its signs, for one matrix or many. Count is the number of matrices, which
// stand below each other in A, in Q and in R; 0 means 1. Each has m rows and n <= m columns. With
// the results Q and R, and sym(M) the lower triangle of M with its mirror image above, the
// derivatives are
//
//	Ā += X = (Q̄ + Q·K)·R⁻ᵀ,  K = sym(R·R̄ᵀ - Q̄ᵀ·Q)
//	Ṙ = N·R,  Q̇ = C - Q·N,  C = Ȧ·R⁻¹,  S = Qᵀ·C,  N_ij = S_ij + S_ji for i < j,  N_ii = S_ii
//	ġA += (ġQ + Q̇·K + Q·K̇ - X·Ṙᵀ)·R⁻ᵀ
//
// where Q̇ and Ṙ are added to the tangents of Q and R, and K̇ is the tangent of K.
//
// If m is at most 64, a block of threads reduces a matrix in registers, and another launch makes Q of the reflections. If m is at
// most 32, that launch also makes the derivatives of Adjoint or Tangent, in shared memory. Larger matrices are
// reduced one after the other. On cards of compute capability 9.0 and later, the blocks of a cluster reduce 64 columns of up to
// 8192 rows in a launch, if the card has room for a cluster. Otherwise each column is a launch, in which all blocks take part.
// The reflections of 256 columns are applied to the rest together, by products of matrices and a triangular solution, and
// the next 256 columns are reduced beside these products and those that make the columns of Q before. Derivatives are products of matrices and triangular solutions. All passes
// of larger matrices need scratch memory for Q and R, and the others for as much again for each of K, X and the tangents.
//
// The bounds on the errors are those of revlinalg.QR. So is the test for full rank: a matrix
// without it is a *rev.SingularError, for which no matrix of the stack is written. Its Index
// is the row of the diagonal element in R. The pass waits for the device to know.
type QR[T rev.Float] struct {
	Q     General[T] `rev:"acc" shape:"rows,n"`
	R     General[T] `rev:"acc" shape:"max(Count,1)*n,n"`
	A     General[T] `rev:"in" shape:"rows,n"`
	Count int
}

// Run implements rev.Kernel. It returns the errors of the device or a *rev.SingularError. It panics
// with a *rev.OperandError if the rows of A are not those of Count matrices, or if these have more columns
// than rows.
func (k QR[T]) Run(p rev.Pass[QR[T]]) error {
	count := max(k.Count, 1)
	m, n := k.A.Rows/count, k.A.Cols
	if k.A.Rows%count != 0 || m < n {
		panic(rev.ShapeError[QR[T]]("A", "is %d×%d, want %d matrices with at least as many rows as columns", k.A.Rows, n, count))
	}
	if n == 0 {
		return nil
	}
	w := begin(&k, &p)
	f := factors[T]{stacks: stacks[T]{pass: &w, count: count}, m: m, n: n}
	f.run(&k, &p)
	return w.end()
}

// factors are a pass of QR at work.
type factors[T rev.Float] struct {
	stacks[T]
	m, n         int
	q, r         stack[T]
	ratios       uint64 // of each column of R, what the condition is the largest of
	packed, taus uint64 // of kernel reflectSmall
}

// The sizes of kernels/qr.cu, but for qrPanel.
const (
	smallRows    = 64
	qrPanel      = 128 // columns that are reduced one by one
	panelColumns = 32
	mostChunks   = warp
	squareSide   = 32 // of matrices in shared memory (kernels/small.h)
)

// run makes the pass. Everything that may fail comes before the results are written.
func (f *factors[T]) run(k *QR[T], p *rev.Pass[QR[T]]) {
	m, n := f.m, f.n
	g, t, gt := &p.G, &p.T, &p.GT
	wantsTangent := t.A.Data != nil || gt.A.Data != nil
	wantsGradient := g.A.Data != nil && (g.Q.Data != nil || g.R.Data != nil) || gt.A.Data != nil

	small := m <= smallRows                                      // results go to their places at once
	fused := m <= squareSide                                     // and so do those of Adjoint and Tangent
	general := !fused || gt.A.Data != nil                        // derivatives are in scratch memory
	kept := !small || general && (wantsTangent || wantsGradient) // Q and R are

	wide, square, size := f.count*m*n, f.count*n*n, int(unsafe.Sizeof(*new(T)))
	numbers := f.count * n * (8 / size) // ratios
	if kept {
		numbers += wide + square
	}
	if small {
		numbers += wide + f.count*n // reflections
	} else {
		numbers += reduceRoom(m, n)
	}
	if wantsTangent && general {
		numbers += wide + 2*square // Q̇, Ṙ, N
	}
	if wantsGradient && general {
		numbers += wide + 2*square // X, K and, while that is made, triu(R̄)
	}
	if gt.A.Data != nil {
		numbers += wide + square // what is added to ġA, K̇
	}
	f.free = f.room(1, numbers*size)
	f.reserve(n, n, m) // of QᵀQ̄ and the like. No other product of derivatives has longer sums than sides.
	if f.err != nil {
		return
	}
	f.ratios = uint64(f.take(f.count * n * (8 / size)).address())
	if small {
		f.packed, f.taus = uint64(f.take(wide).address()), uint64(f.take(f.count*n).address())
		f.small("reflectSmall", f.packed, f.taus, f.ratios, uint64(k.A.Data.address()), uint64(k.A.Stride))
	}
	if kept {
		f.q, f.r = f.wide(), f.squares()
	}
	if !small {
		f.reduceLarge(k.A)
	}
	f.check()

	if fused {
		f.smallPasses(k, p)
	} else if !kept {
		f.small("smallQR", f.reduced(k.Q, k.R, p.Sign())...)
	}
	if !kept {
		return
	}
	if small {
		f.clear(f.q)
		f.clear(f.r)
		f.small("smallQR", f.reduced(General[T]{Data: f.q.data, Stride: n}, General[T]{Data: f.r.data, Stride: n}, 1)...)
	}
	var dq, dr, kk, x stack[T]
	if wantsTangent && general {
		dq, dr = f.tangent(t.A)
	}
	if wantsGradient && general {
		kk = f.squares()
		f.clear(kk)
		f.addInner(kk, g.R, f.r, f.q, g.Q)
		f.mirror(kk, false)
		x = f.solved(g.Q, term[T]{1, f.q, kk})
	}
	if !fused {
		f.add(f.of(t.Q), p.Sign(), dq, whole)
		f.add(f.of(t.R), p.Sign(), dr, upperTriangle)
		f.add(f.of(g.A), 1, x, whole)
		f.add(f.of(k.Q), p.Sign(), f.q, whole)
		f.add(f.of(k.R), p.Sign(), f.r, upperTriangle)
	}
	if gt.A.Data != nil {
		dk := f.squares()
		f.clear(dk)
		f.addInner(dk, g.R, dr, dq, g.Q)
		f.addInner(dk, gt.R, f.r, f.q, gt.Q)
		f.mirror(dk, false)
		dx := f.solved(gt.Q, term[T]{1, dq, kk}, term[T]{1, f.q, dk}, term[T]{-1, x, dr.t()})
		f.add(f.of(gt.A), 1, dx, whole)
	}
}

func (f *factors[T]) squares() stack[T] { return f.matrices(f.n, f.n) }

func (f *factors[T]) wide() stack[T] { return f.matrices(f.m, f.n) }

// small launches a kernel of matrices of up to 16, 32 or 64 rows.
func (f *factors[T]) small(kernel string, params ...uint64) {
	most := 16
	for most < f.m {
		most *= 2
	}
	f.launch(typed[T](kernel+strconv.Itoa(most)), grid{[3]int{f.count, 1, 1}, [3]int{across(f.n, warp) * warp, 1, 1}},
		append(params, uint64(f.m), uint64(f.n))...)
}

// reduced returns parameters of kernels that add sign times Q and R of matrices that have been reduced.
func (f *factors[T]) reduced(q, r General[T], sign int) []uint64 {
	return append(rowParams(q, r), uint64(sign), f.packed, f.taus)
}

// smallPasses adds results and derivatives, where a block has all that they need.
func (f *factors[T]) smallPasses(k *QR[T], p *rev.Pass[QR[T]]) {
	g, t, grid := &p.G, &p.T, smallGrid(f.count)
	sizes := []uint64{uint64(f.m), uint64(f.n)}
	results := func() []uint64 { // the first launch adds them
		params := append(f.reduced(k.Q, k.R, p.Sign()), sizes...)
		k = &QR[T]{}
		return params
	}
	tangent, adjoint := t.A.Data != nil, g.A.Data != nil && (g.Q.Data != nil || g.R.Data != nil)
	if tangent {
		f.launch(typed[T]("smallTangent"), grid, append(rowParams(t.Q, t.R, t.A), results()...)...)
	}
	if adjoint {
		f.launch(typed[T]("smallGradient"), grid, append(rowParams(g.A, g.Q, g.R), results()...)...)
	}
	if !tangent && !adjoint {
		f.small("smallQR", f.reduced(k.Q, k.R, p.Sign())...)
	}
}

// reduceRoom returns how many numbers reduceLarge needs.
func reduceRoom(m, n int) int {
	cols, width := min(n, aheadCols), min(n, qrPanel)
	// Aᵀ, W, two states of a panel, WᵀW of all panels, products in two streams and of a panel, two states of sums, shifts
	return 2*n*m + 2*width*m + 2*n*cols + cols*cols + panelCols*partCols + 2*width*mostChunks + n
}

// reduceLarge sets Q and R of matrices that do not fit into registers. It keeps columns
// as rows, so that those of a panel are contiguous: Qᵀ takes the memory of Q.
func (f *factors[T]) reduceLarge(a General[T]) {
	m, n := f.m, f.n
	f.q.down, f.q.across = 1, m
	l := large[T]{stacks: f.stacks, m: m, n: n, width: min(n, aheadCols)}
	l.count = 1
	cols := min(n, qrPanel)
	l.at, l.w = l.take(n*m), l.take(n*m)
	l.states = [2]Memory[T]{l.take(cols * m), l.take(cols * m)}
	l.u, l.y, l.beside = l.take(n*l.width), l.take(n*l.width), l.take(l.width*l.width)
	l.s = l.take(panelCols * partCols)
	l.sums = [2]Memory[T]{l.take(cols * mostChunks), l.take(cols * mostChunks)}
	shifts := l.take(n)
	f.free = l.free
	zero(l.pass, l.w) // its rows begin with zeros, which panels only set from their own first row on
	for b := range f.count {
		qt, r := f.q.data[b*n*m:(b+1)*n*m], f.r.data[b*n*n:(b+1)*n*n]
		f.launch(typed[T]("loadColumns"), grid{[3]int{(n + warp - 1) / warp, 1, 1}, [3]int{maxThreads, 1, 1}},
			uint64(l.at.address()), uint64(shifts.address()), uint64(a.Data[b*m*a.Stride:].address()), uint64(a.Stride), uint64(m), uint64(n))
		f.launch(typed[T]("beginQ"), vectorGrid(n*m), uint64(qt.address()), uint64(m), uint64(n))
		q := formQ(n, l.width, func(lo, hi, first, end int) { l.apply(l.stacks, qt, lo, hi, first, end, true) })
		l.ahead(n, func(on stacks[T], lo, hi int) {
			l.reduce(on, lo, hi)
			l.multiplyVectors(on, lo, hi)
		}, func(on stacks[T], lo, hi, first, end int) {
			l.apply(on, l.at, lo, hi, first, end, false)
			if on.pass == l.pass && hi < n {
				q.reduced(hi)
			}
		})
		f.launch(typed[T]("columnRatios"), grid{[3]int{(n*warp + maxThreads - 1) / maxThreads, 1, 1}, [3]int{maxThreads, 1, 1}},
			f.ratios+uint64(8*b*n), uint64(l.at.address()), uint64(m), uint64(n))
		f.launch(typed[T]("takeR"), vectorGrid(n*n), uint64(r.address()), uint64(l.at.address()), uint64(shifts.address()), uint64(m), uint64(n))
		q.reduced(n)
	}
}

// qParts is how many parts of its columns Q is formed in, or fewer.
const qParts = 4

// A forming is Q while it is formed. A column of Q needs no reflections of columns after it, so it is formed in parts of size columns,
// which is a multiple of the width of panels. All but the last part are formed beside panels that follow, where enough of these follow.
type forming struct {
	n, width, size   int
	apply            func(lo, hi, first, end int) // applies the reflections of columns lo to hi-1 to columns first to end-1
	first, end, left int                          // the part has columns first to end-1, which lack the reflections of columns before left
}

// formQ begins a forming of n columns.
func formQ(n, width int, apply func(lo, hi, first, end int)) *forming {
	return &forming{n: n, width: width, size: across(n, qParts*width) * width, apply: apply}
}

// reduced applies some reflections where columns before hi have been reduced. Those of i·size columns take size/width calls of i
// steps, which are as many as there are before the next part begins. If hi is n, it applies all that are left.
func (q *forming) reduced(hi int) {
	if hi%q.size == 0 || hi == q.n {
		q.steps(q.left)
		q.first, q.end, q.left = q.end, hi, hi
	}
	if hi == q.n {
		q.steps(hi)
	}
	q.steps(hi / q.size)
}

// steps applies the reflections of up to so many panels, the last ones first.
func (q *forming) steps(most int) {
	for ; most > 0 && q.left > 0; most-- {
		lo := (q.left - 1) / q.width * q.width
		q.apply(lo, q.left, max(lo, q.first), q.end)
		q.left = lo
	}
}

// large is the reduction of a large matrix at work. Panels have width columns, the last one fewer. The product of the reflections
// I - v·vᵀ of some columns is I - W·U⁻¹·Wᵀ, where W has the v, and U is the upper triangle of WᵀW with ones on its diagonal
// (Joffrain et al. 2006).
type large[T rev.Float] struct {
	stacks[T]
	m, n, width int
	at, w       Memory[T]    // Aᵀ, which becomes Rᵀ, and Wᵀ
	states      [2]Memory[T] // of the columns of a panel, before and after a step
	sums        [2]Memory[T] // likewise
	u           Memory[T]    // WᵀW of all panels
	s           Memory[T]    // products of kernel reflectColumns
	y, beside   Memory[T]    // products in the stream of the pass, and in the one beside it
}

// vectors returns W of columns lo to hi-1, without the rows before the first of them, where it is zero.
func (l *large[T]) vectors(lo, hi int) strided[T] {
	return strided[T]{l.m - lo, hi - lo, l.w[lo*l.m+lo:], 1, l.m}
}

// products returns WᵀW of columns lo to hi-1.
func (l *large[T]) products(lo, hi int) stack[T] {
	return stack[T]{strided[T]{hi - lo, hi - lo, l.u[lo*l.width:], hi - lo, 1}, 0}
}

// multiplyVectors sets the products of columns lo to hi-1.
func (l *large[T]) multiplyVectors(on stacks[T], lo, hi int) {
	w := l.vectors(lo, hi)
	addLongProduct(on.pass, l.products(lo, hi).strided, 0, w.t(), w)
}

// reduce reduces columns lo to hi-1. The columns before lo have been applied to them.
func (l *large[T]) reduce(on stacks[T], lo, hi int) {
	switch {
	case on.together("reflectColumns", l.m-lo):
		for ; lo < hi; lo += panelCols {
			end := min(lo+panelCols, hi)
			l.reflect(on, lo, end, 0, 0)
			l.reflect(on, lo, end, end, hi)
		}
	case hi-lo > qrPanel:
		mid := lo + halfOf(hi-lo, qrPanel)
		l.reduce(on, lo, mid)
		l.multiplyVectors(on, lo, mid)
		l.apply(on, l.at, lo, mid, mid, hi, false)
		l.reduce(on, mid, hi)
	default:
		l.reduceColumns(on, lo, hi)
	}
}

// reflect reduces columns lo to hi-1 in clusters of blocks, or applies their reflections to columns first to end-1.
func (l *large[T]) reflect(on stacks[T], lo, hi, first, end int) {
	g := teamGrid(l.m - lo)
	if end > 0 {
		g.blocks[0] *= across(end-first, partCols)
	}
	if first < end || end == 0 {
		on.launch(typed[T]("reflectColumns"), g, uint64(l.at.address()), uint64(l.w.address()), uint64(l.s.address()),
			uint64(l.m), uint64(lo), uint64(hi-lo), uint64(first), uint64(end))
	}
}

// reduceColumns reduces the columns of a panel, each in a launch.
func (l *large[T]) reduceColumns(on stacks[T], lo, hi int) {
	m, cols := l.m, hi-lo
	chunk := 4 * warp // rows of a block
	chunk *= (m - lo + chunk*mostChunks - 1) / (chunk * mostChunks)
	g := grid{[3]int{(m - lo + chunk - 1) / chunk, (cols + panelColumns - 1) / panelColumns, 1}, [3]int{maxThreads, 1, 1}}
	at := l.at[lo*m:]
	from := at
	for j := -1; j < cols; j++ { // step -1 copies the columns
		to := l.states[(j+1)%2]
		on.launch(typed[T]("reduceColumn"), g, uint64(from.address()), uint64(to.address()),
			uint64(at.address()), uint64(l.w[lo*m:].address()), uint64(l.sums[(j+2)%2].address()), uint64(l.sums[(j+1)%2].address()),
			uint64(m), uint64(lo), uint64(cols), uint64(j), uint64(chunk))
		from = to
	}
}

// apply computes X <- X·(I - W·U⁻¹·Wᵀ), or with its transpose, for rows first to end-1 of X, and the reflections of columns lo to hi-1.
func (l *large[T]) apply(on stacks[T], x Memory[T], lo, hi, first, end int, trans bool) {
	if first == end {
		return
	}
	w, xs := l.vectors(lo, hi), strided[T]{end - first, l.m - lo, x[first*l.m+lo:], l.m, 1}
	memory := l.y
	if on.pass != l.pass {
		memory = l.beside
	}
	y := stack[T]{strided[T]{end - first, hi - lo, memory, hi - lo, 1}, 0}
	addLongProduct(on.pass, y.strided, 0, xs, w)
	u, is := l.products(lo, hi), strictlyUpper
	if trans {
		u, is = u.t(), strictlyLower
	}
	on.solve(y, u, is)
	addProduct(on.pass, xs, -1, y.strided, w.t())
}

// check waits for the factors. If a matrix does not have full rank to working precision, it
// ends the pass with an error.
func (f *factors[T]) check() {
	if worst, at := f.worst(f.ratios, f.count*f.n); worst >= 1/(float64(f.m)*epsilon[T]()) {
		f.fail(&rev.SingularError{Index: at, Condition: mat.Condition(worst)})
	}
}

// addInner computes the lower triangle of k += b·triu(a)ᵀ - dᵀ·c, without the products with nil. It overwrites the
// scratch memory of triu.
func (f *factors[T]) addInner(k stack[T], a General[T], b, c stack[T], d General[T]) {
	if a.Data != nil {
		free := f.free
		triu := f.squares()
		f.free = free // the passes of a stream run in order
		f.clear(triu)
		f.add(triu, 1, f.of(a), upperTriangle)
		f.multiplyLower(k, 1, b, triu.t())
	}
	if d.Data != nil {
		f.multiplyLower(k, -1, f.of(d).t(), c)
	}
}

// A term is the product sign·A·B.
type term[T any] struct {
	sign int
	a, b stack[T]
}

// solved returns (c + Σ terms)·R⁻ᵀ, where c may be nil.
func (f *factors[T]) solved(c General[T], terms ...term[T]) stack[T] {
	x := f.wide()
	f.clear(x)
	f.add(x, 1, f.of(c), whole)
	for _, t := range terms {
		f.multiply(x, t.sign, t.a, t.b)
	}
	f.solve(x, f.r.t(), lowerTriangle)
	return x
}

// tangent returns Q̇ and Ṙ.
func (f *factors[T]) tangent(ta General[T]) (dq, dr stack[T]) {
	dq, dr = f.wide(), f.squares()
	f.clear(dq)
	f.clear(dr)
	if ta.Data == nil {
		return dq, dr
	}
	f.add(dq, 1, f.of(ta), whole)
	f.solve(dq, f.r, upperTriangle) // C
	s := f.squares()
	f.multiply(s, 0, f.q.t(), dq)
	f.mirror(s, true) // N
	f.multiplyLower(dr.t(), 1, f.r.t(), s.t())
	most := across(across(f.n, 4), largeTile) * largeTile
	for lo := 0; lo < f.n; lo += most { // N has zeros below its diagonal
		hi := min(lo+most, f.n)
		f.multiply(dq.block(0, f.m, lo, hi), -1, f.q.block(0, f.m, 0, hi), s.block(0, hi, lo, hi))
	}
	return dq, dr
}
