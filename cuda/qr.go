package cuda

import (
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
// If m is at most 64, a block of threads reduces a matrix in registers. Larger matrices are
// reduced one after the other, 128 columns at a time. Each of these is a launch, in which all
// blocks take part. The reflections of the 128 columns are applied to the rest together, by
// products of matrices. Adjoint, Tangent and AdjointTangent are products of matrices and
// triangular solves. If m is at most 32, a block makes those of Adjoint or Tangent for a
// matrix in shared memory. All need scratch memory for Q and R, and the others for as much
// again for each of K, X and the tangents.
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
// with mat.ErrShape if the rows of A are not those of Count matrices, or if these have more columns
// than rows.
func (k QR[T]) Run(p rev.Pass[QR[T]]) error {
	count := max(k.Count, 1)
	m, n := k.A.Rows/count, k.A.Cols
	if k.A.Rows%count != 0 || m < n {
		panic(mat.ErrShape)
	}
	if n == 0 {
		return nil
	}
	w := begin(&k, &p)
	f := factors[T]{pass: &w, m: m, n: n, count: count}
	f.run(&k, &p)
	return w.end()
}

// A stack is matrices of one shape. Element (i, j) of matrix b is at b·batch + i·down +
// j·across.
type stack[T any] struct {
	strided[T]
	batch int
}

func (s stack[T]) t() stack[T] { return stack[T]{s.strided.t(), s.batch} }

// columns returns columns lo to hi-1.
func (s stack[T]) columns(lo, hi int) stack[T] {
	s.data, s.cols = s.data[lo*s.across:], hi-lo
	return s
}

// factors are a pass of QR at work.
type factors[T rev.Float] struct {
	*pass
	m, n, count int
	free        uintptr // the scratch memory that is left
	q, r        stack[T]
	ratios      uint64 // of each column of R, what the condition is the largest of
}

// The sizes of kernels/qr.cu, but for qrPanel.
const (
	smallRows    = 64
	qrPanel      = 128 // columns that are reduced one by one
	panelColumns = 32
	mostChunks   = warp
	compactSize  = 64 // half of qrPanel
	stackTile    = 32
	solveCols    = 32
	solveRows    = 64
)

// run makes the pass. Everything that may fail comes before the results are written.
func (f *factors[T]) run(k *QR[T], p *rev.Pass[QR[T]]) {
	m, n := f.m, f.n
	g, t, gt := &p.G, &p.T, &p.GT
	wantsTangent := t.A.Data != nil || gt.A.Data != nil
	wantsGradient := g.A.Data != nil && (g.Q.Data != nil || g.R.Data != nil) || gt.A.Data != nil

	small := m <= stackTile               // a block makes Adjoint and Tangent of a matrix
	general := !small || gt.A.Data != nil // derivatives are in scratch memory

	wide, square, size := f.count*m*n, f.count*n*n, int(unsafe.Sizeof(*new(T)))
	numbers := f.count*n*(8/size) + wide + square // ratios, Q, R
	if m > smallRows {
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
	if f.count == 1 {
		reserveParts[T](f.pass, n, n, m) // of QᵀQ̄ and the like. No other product of derivatives has longer sums than sides.
	}
	if f.err != nil {
		return
	}
	f.ratios = uint64(f.take(f.count * n * (8 / size)).address())
	f.q = f.wide()
	f.r = f.squares()
	if m <= smallRows {
		f.reduceSmall(k.A)
	} else {
		f.reduceLarge(k.A)
	}
	f.check()

	if small {
		f.smallPasses(p)
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
	if !small {
		f.add(f.stack(t.Q), p.Sign(), dq, false)
		f.add(f.stack(t.R), p.Sign(), dr, true)
		f.add(f.stack(g.A), 1, x, false)
	}
	if gt.A.Data != nil {
		dk := f.squares()
		f.clear(dk)
		f.addInner(dk, g.R, dr, dq, g.Q)
		f.addInner(dk, gt.R, f.r, f.q, gt.Q)
		f.mirror(dk, false)
		dx := f.solved(gt.Q, term[T]{1, dq, kk}, term[T]{1, f.q, dk}, term[T]{-1, x, dr.t()})
		f.add(f.stack(gt.A), 1, dx, false)
	}
	f.add(f.stack(k.Q), p.Sign(), f.q, false)
	f.add(f.stack(k.R), p.Sign(), f.r, true)
}

// take returns scratch memory.
func (f *factors[T]) take(n int) Memory[T] {
	m := memoryAt[T](f.free, n)
	f.free += uintptr(n) * unsafe.Sizeof(*new(T))
	return m
}

func (f *factors[T]) squares() stack[T] {
	n := f.n
	return stack[T]{strided[T]{n, n, f.take(f.count * n * n), n, 1}, n * n}
}

func (f *factors[T]) wide() stack[T] {
	m, n := f.m, f.n
	return stack[T]{strided[T]{m, n, f.take(f.count * m * n), n, 1}, m * n}
}

// stack returns the matrices of an operand, which may be nil.
func (f *factors[T]) stack(a General[T]) stack[T] {
	rows := a.Rows / f.count
	return stack[T]{strided[T]{rows, a.Cols, a.Data, a.Stride, 1}, rows * a.Stride}
}

// reduceSmall sets Q and R.
func (f *factors[T]) reduceSmall(a General[T]) {
	kernel := "smallQR64"
	switch {
	case f.m <= 16:
		kernel = "smallQR16"
	case f.m <= 32:
		kernel = "smallQR32"
	}
	threads := (f.n + warp - 1) / warp * warp
	f.launch(typed[T](kernel), grid{[3]int{f.count, 1, 1}, [3]int{threads, 1, 1}},
		uint64(f.q.data.address()), uint64(f.r.data.address()), f.ratios, uint64(a.Data.address()), uint64(a.Stride), uint64(f.m), uint64(f.n))
}

// smallPasses adds the derivatives of Adjoint and Tangent for matrices of up to 32 rows.
func (f *factors[T]) smallPasses(p *rev.Pass[QR[T]]) {
	g, t := &p.G, &p.T
	all := grid{[3]int{f.count, 1, 1}, [3]int{64, 1, 1}}
	factors := []uint64{uint64(f.q.data.address()), uint64(f.r.data.address()), uint64(f.m), uint64(f.n)}
	if t.A.Data != nil {
		f.launch(typed[T]("smallTangent"), all, append([]uint64{
			uint64(t.Q.Data.address()), uint64(t.Q.Stride), uint64(t.R.Data.address()), uint64(t.R.Stride), uint64(p.Sign()),
			uint64(t.A.Data.address()), uint64(t.A.Stride)}, factors...)...)
	}
	if g.A.Data != nil && (g.Q.Data != nil || g.R.Data != nil) {
		f.launch(typed[T]("smallGradient"), all, append([]uint64{
			uint64(g.A.Data.address()), uint64(g.A.Stride), uint64(g.Q.Data.address()), uint64(g.Q.Stride),
			uint64(g.R.Data.address()), uint64(g.R.Stride)}, factors...)...)
	}
}

// reduceRoom returns how many numbers reduceLarge needs.
func reduceRoom(m, n int) int {
	cols := min(n, qrPanel)
	panels := (n + cols - 1) / cols
	// Aᵀ, W, two states of a panel, T of all panels, s, two products, two states of sums, factors, shifts
	return 2*n*m + 2*cols*m + panels*cols*cols + cols*cols + 2*n*cols + 2*cols*mostChunks + cols + n
}

// reduceLarge is reduceSmall for matrices that do not fit into registers. It keeps columns
// as rows, so that those of a panel are contiguous: Qᵀ takes the memory of Q.
func (f *factors[T]) reduceLarge(a General[T]) {
	m, n := f.m, f.n
	f.q.down, f.q.across = 1, m
	l := large[T]{factors: f, width: min(n, qrPanel)}
	l.at, l.w = f.take(n*m), f.take(n*m)
	l.states = [2]Memory[T]{f.take(l.width * m), f.take(l.width * m)}
	panels := (n + l.width - 1) / l.width
	l.t, l.s = f.take(panels*l.width*l.width), f.take(l.width*l.width)
	l.y, l.z = f.take(n*l.width), f.take(n*l.width)
	l.sums = [2]Memory[T]{f.take(l.width * mostChunks), f.take(l.width * mostChunks)}
	l.scales = f.take(l.width)
	shifts := f.take(n)
	for b := range f.count {
		qt, r := f.q.data[b*n*m:(b+1)*n*m], f.r.data[b*n*n:(b+1)*n*n]
		f.launch(typed[T]("loadColumns"), grid{[3]int{(n + warp - 1) / warp, 1, 1}, [3]int{maxThreads, 1, 1}},
			uint64(l.at.address()), uint64(shifts.address()), uint64(a.Data[b*m*a.Stride:].address()), uint64(a.Stride), uint64(m), uint64(n))
		for panel := range panels {
			l.reduce(panel)
			if next := (panel + 1) * l.width; next < n {
				l.apply(l.at, next, panel, false)
			}
		}
		f.launch(typed[T]("columnRatios"), grid{[3]int{(n*warp + maxThreads - 1) / maxThreads, 1, 1}, [3]int{maxThreads, 1, 1}},
			f.ratios+uint64(8*b*n), uint64(l.at.address()), uint64(m), uint64(n))
		f.launch(typed[T]("beginQ"), vectorGrid(n*m), uint64(qt.address()), uint64(r.address()), uint64(l.at.address()), uint64(shifts.address()), uint64(m), uint64(n))
		for panel := panels - 1; panel >= 0; panel-- {
			l.apply(qt, panel*l.width, panel, true)
		}
	}
}

// large is the reduction of a large matrix at work. Panels have width columns, the last one fewer.
type large[T rev.Float] struct {
	*factors[T]
	width  int
	at, w  Memory[T]    // Aᵀ, which becomes Rᵀ, and the vectors of the reflections, as rows
	states [2]Memory[T] // of the columns of a panel, before and after a step
	sums   [2]Memory[T] // likewise
	t, s   Memory[T]    // of kernel compact: T of each panel, and WᵀW of one
	y, z   Memory[T]    // products
	scales Memory[T]    // of the reflections of a panel
}

// vectors returns W of a panel without the rows before its first column, where it is zero.
func (l *large[T]) vectors(panel int) strided[T] {
	lo := panel * l.width
	return strided[T]{l.m - lo, min(l.width, l.n-lo), l.w[lo*l.m+lo:], 1, l.m}
}

// compact returns T of a panel.
func (l *large[T]) compact(panel int) strided[T] {
	cols := min(l.width, l.n-panel*l.width)
	return strided[T]{cols, cols, l.t[panel*l.width*l.width:][:cols*cols], cols, 1}
}

// reduce reduces the columns of a panel, and sets its T.
func (l *large[T]) reduce(panel int) {
	m, lo, t := l.m, panel*l.width, l.compact(panel)
	cols := t.cols
	chunk := 4 * warp // rows of a block
	chunk *= (m - lo + chunk*mostChunks - 1) / (chunk * mostChunks)
	g := grid{[3]int{(m - lo + chunk - 1) / chunk, (cols + panelColumns - 1) / panelColumns, 1}, [3]int{maxThreads, 1, 1}}
	at := l.at[lo*m:]
	from := at
	for j := -1; j < cols; j++ { // step -1 copies the columns
		to := l.states[(j+1)%2]
		l.launch(typed[T]("reduceColumn"), g, uint64(from.address()), uint64(to.address()),
			uint64(at.address()), uint64(l.w[lo*m:].address()), uint64(l.scales.address()), uint64(l.s.address()),
			uint64(l.sums[(j+2)%2].address()), uint64(l.sums[(j+1)%2].address()), uint64(m), uint64(lo), uint64(cols), uint64(j), uint64(chunk))
		from = to
	}
	l.clearMemory(t.data)
	l.launch(typed[T]("compact"), grid{[3]int{(cols + compactSize - 1) / compactSize, 1, 1}, [3]int{compactSize, 1, 1}},
		uint64(t.data.address()), uint64(l.s.address()), uint64(l.scales.address()), uint64(cols))
	if cols <= compactSize {
		return
	}
	// With halves 1 and 2, T₁₂ = -T₁₁·(W₁ᵀ·W₂)·T₂₂.
	rest := cols - compactSize
	s12 := strided[T]{compactSize, rest, l.s[compactSize*cols:], 1, cols}
	t11 := strided[T]{compactSize, compactSize, t.data, cols, 1}
	t12 := strided[T]{compactSize, rest, t.data[compactSize:], cols, 1}
	t22 := strided[T]{rest, rest, t.data[compactSize*cols+compactSize:], cols, 1}
	addProduct(l.pass, t12, -1, t11, l.product(l.y, s12, t22))
}

// product returns a·b, in the given memory.
func (l *large[T]) product(memory Memory[T], a, b strided[T]) strided[T] {
	c := strided[T]{a.rows, b.cols, memory[:a.rows*b.cols], b.cols, 1}
	l.clearMemory(c.data)
	addLongProduct(l.pass, c, 1, a, b)
	return c
}

// apply computes X <- X·(I - W·T·Wᵀ), or with Tᵀ, for the last rows of X from `from` on, and W
// and T of a panel.
func (l *large[T]) apply(x Memory[T], from, panel int, trans bool) {
	w, t, lo := l.vectors(panel), l.compact(panel), panel*l.width
	if trans {
		t = t.t()
	}
	xs := strided[T]{l.n - from, l.m - lo, x[from*l.m+lo:], l.m, 1}
	addProduct(l.pass, xs, -1, l.product(l.z, l.product(l.y, xs, w), t), w.t())
}

// check waits for the factors. If a matrix does not have full rank to working precision, it
// ends the pass with an error.
func (f *factors[T]) check() {
	at, g := f.parts(), vectorGrid(f.count*f.n)
	blocks := g.blocks[0]
	f.launch("condition", g, at+16, f.ratios, 0, uint64(f.count*f.n))
	g.blocks[0] = 1
	f.launch("condition", g, at, 0, at+16, uint64(blocks))
	if f.err != nil {
		return
	}
	var worst [2]float64
	if f.err = wrap(f.stream.toHost(uintptr(at), bytesOf(worst[:]))); f.err != nil {
		return
	}
	epsilon := 0x1p-52
	if unsafe.Sizeof(*new(T)) == 4 {
		epsilon = 0x1p-23
	}
	if worst[0] >= 1/(float64(f.m)*epsilon) {
		f.err = &rev.SingularError{Index: int(worst[1]), Condition: mat.Condition(worst[0])}
	}
}

func (f *factors[T]) clear(s stack[T]) { f.clearMemory(s.data) }

func (f *factors[T]) clearMemory(m Memory[T]) { zero(f.pass, m) }

// add computes y += sign·x, or only the upper triangle, unless one of them is nil.
func (f *factors[T]) add(y stack[T], sign int, x stack[T], upper bool) {
	if y.data == nil || x.data == nil {
		return
	}
	f.launch(typed[T]("addStack"), vectorGrid(f.count*x.rows*x.cols),
		uint64(y.data.address()), uint64(y.down), uint64(y.across), uint64(y.batch), uint64(sign),
		uint64(x.data.address()), uint64(x.down), uint64(x.across), uint64(x.batch),
		uint64(x.rows), uint64(x.cols), uint64(f.count), bit(upper))
}

// multiply computes c += sign·a·b.
func (f *factors[T]) multiply(c stack[T], sign int, a, b stack[T]) {
	if f.count == 1 {
		addLongProduct(f.pass, c.strided, sign, a.strided, b.strided)
		return
	}
	if a.cols == 0 {
		return
	}
	tiles := (c.rows + stackTile - 1) / stackTile * ((c.cols + stackTile - 1) / stackTile)
	f.launch(typed[T]("multiplyStack"), grid{[3]int{f.count * tiles, 1, 1}, [3]int{64, 1, 1}},
		uint64(c.data.address()), uint64(c.down), uint64(c.across), uint64(c.batch), uint64(c.rows), uint64(c.cols), uint64(a.cols),
		uint64(a.data.address()), uint64(a.down), uint64(a.across), uint64(a.batch),
		uint64(b.data.address()), uint64(b.down), uint64(b.across), uint64(b.batch), uint64(sign))
}

// mirror completes a symmetric matrix from its lower triangle, or adds that to the upper one
// and clears it.
func (f *factors[T]) mirror(k stack[T], add bool) {
	f.launch(typed[T]("mirror"), vectorGrid(len(k.data)), uint64(k.data.address()), uint64(f.n), uint64(f.count), bit(add))
}

// addInner computes k += b·triu(a)ᵀ - dᵀ·c, without the products with nil. It overwrites the
// scratch memory of triu.
func (f *factors[T]) addInner(k stack[T], a General[T], b, c stack[T], d General[T]) {
	if a.Data != nil {
		free := f.free
		triu := f.squares()
		f.free = free // the passes of a stream run in order
		f.clear(triu)
		f.add(triu, 1, f.stack(a), true)
		f.multiply(k, 1, b, triu.t())
	}
	if d.Data != nil {
		f.multiply(k, -1, f.stack(d).t(), c)
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
	f.add(x, 1, f.stack(c), false)
	for _, t := range terms {
		f.multiply(x, t.sign, t.a, t.b)
	}
	f.solve(x, true)
	return x
}

// solve computes x <- x·R⁻¹, or x·R⁻ᵀ.
func (f *factors[T]) solve(x stack[T], trans bool) { f.solveBlock(x, 0, f.n, trans) }

// solveBlock is solve for columns lo to hi-1 of x and this block of R, of which it takes halves.
func (f *factors[T]) solveBlock(x stack[T], lo, hi int, trans bool) {
	if hi-lo <= solveCols {
		f.launch(typed[T]("solveStack"), grid{[3]int{(f.m + solveRows - 1) / solveRows * f.count, 1, 1}, [3]int{solveRows, 1, 1}},
			uint64(x.data.address()), uint64(x.down), uint64(x.batch), uint64(f.m),
			uint64(f.r.data.address()), uint64(f.n), uint64(lo), uint64(hi-lo), bit(trans))
		return
	}
	mid := lo + ((hi-lo)/2+solveCols-1)/solveCols*solveCols
	left, right := x.columns(lo, mid), x.columns(mid, hi)
	r := f.r.columns(mid, hi)
	r.data, r.rows = r.data[lo*r.down:], mid-lo
	if trans {
		f.solveBlock(x, mid, hi, trans)
		f.multiply(left, -1, right, r.t())
		f.solveBlock(x, lo, mid, trans)
	} else {
		f.solveBlock(x, lo, mid, trans)
		f.multiply(right, -1, left, r)
		f.solveBlock(x, mid, hi, trans)
	}
}

// tangent returns Q̇ and Ṙ.
func (f *factors[T]) tangent(ta General[T]) (dq, dr stack[T]) {
	dq, dr = f.wide(), f.squares()
	f.clear(dq)
	f.clear(dr)
	if ta.Data == nil {
		return dq, dr
	}
	f.add(dq, 1, f.stack(ta), false)
	f.solve(dq, false) // C
	s := f.squares()
	f.clear(s)
	f.multiply(s, 1, f.q.t(), dq)
	f.mirror(s, true) // N
	f.multiply(dr, 1, s, f.r)
	f.multiply(dq, -1, f.q, s)
	return dq, dr
}
