package revlinalg

import (
	"math"
	"sync/atomic"

	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// The factorisations copy their operands into scratch matrices, cut these into blocks,
// and do nearly all work as products of matrices. Blocks depend only on the shape, or
// do not affect the bits of the result.

const rowTile = 32 // rows of a block of a symmetric update

// scratch returns an r×c matrix with undefined elements, in the storage of m if that is
// large enough. The stride of a wide matrix is an odd number of cache lines or half
// lines. The elements of a column then fall into many sets of the cache.
func scratch[T rev.Real](m rev.General[T], r, c int) rev.General[T] {
	ld := max(c, 1)
	if c > 16 {
		ld = (c+15)&^15 + 8
	}
	return rev.General[T]{Rows: r, Cols: c, Stride: ld, Data: workspace.Grow(m.Data, r*ld)}
}

// zeros is scratch with all elements zero.
func zeros[T rev.Real](m rev.General[T], r, c int) rev.General[T] {
	m = scratch(m, r, c)
	clear(m.Data)
	return m
}

// block returns rows i to i+r-1 and columns j to j+c-1 of m. They share its storage.
func block[T any](m rev.General[T], i, j, r, c int) rev.General[T] {
	b := rev.General[T]{Rows: r, Cols: c, Stride: m.Stride}
	if r > 0 && c > 0 {
		b.Data = m.Data[i*m.Stride+j : (i+r-1)*m.Stride+j+c]
	}
	return b
}

// copyMatrix copies src, of the same shape, to dst.
func copyMatrix[T any](dst, src rev.General[T]) {
	for i := range src.Rows {
		copy(dst.Row(i), src.Row(i))
	}
}

// copyUpper copies the upper triangle of src to that of dst.
func copyUpper[T any](dst, src rev.General[T]) {
	for i := range src.Rows {
		copy(dst.Row(i)[i:], src.Row(i)[i:])
	}
}

// addMatrix computes dst += alpha·src. It does nothing if dst is nil.
func addMatrix[T rev.Float](dst rev.General[T], alpha T, src rev.General[T]) {
	if dst.Data == nil {
		return
	}
	for i := range src.Rows {
		vec.Axpy(alpha, src.Row(i), dst.Row(i))
	}
}

// addUpper computes dst += alpha·src in the upper triangle. It does nothing if dst is
// nil.
func addUpper[T rev.Float](dst rev.General[T], alpha T, src rev.General[T]) {
	if dst.Data == nil {
		return
	}
	for i := range src.Rows {
		vec.Axpy(alpha, src.Row(i)[i:], dst.Row(i)[i:])
	}
}

// copyTransposed copies srcᵀ to dst.
func copyTransposed[T rev.Float](dst, src rev.General[T]) {
	dense.Transpose(dst.Data, dst.Stride, src.Data, src.Stride, src.Rows, src.Cols)
}

const (
	// transposeTile is the size of the squares that are transposed at a time.
	transposeTile = 32
	// Up to order transposeAlone, one worker does everything, because its cache often
	// holds the matrices already.
	transposeAlone = 256
)

// A matrixSum computes dst += alpha·src, or dst += alpha·srcᵀ, possibly in the lower
// triangle alone.
type matrixSum[T rev.Float] struct {
	alpha             T
	dst, src          rev.General[T]
	transposed, lower bool
}

// addShared computes dst += alpha·src. It does nothing if dst is nil.
func addShared[T rev.Float](workers int, dst rev.General[T], alpha T, src rev.General[T]) {
	matrixSum[T]{alpha, dst, src, false, false}.run(workers)
}

// addTransposed computes dst += alpha·srcᵀ. It does nothing if dst is nil.
func addTransposed[T rev.Float](workers int, dst rev.General[T], alpha T, src rev.General[T]) {
	matrixSum[T]{alpha, dst, src, true, false}.run(workers)
}

// addLower computes l += alpha·uᵀ in the lower triangle. It does nothing if l is nil.
func addLower[T rev.Float](workers int, l rev.General[T], alpha T, u rev.General[T]) {
	matrixSum[T]{alpha, l, u, true, true}.run(workers)
}

func (s matrixSum[T]) run(workers int) {
	if s.dst.Data == nil {
		return
	}
	w := workspace.Get[*matrixSum[T]]()
	*w = s
	parallel.Run(workersAbove(transposeAlone, max(s.dst.Rows, s.dst.Cols), workers), (s.dst.Rows+transposeTile-1)/transposeTile, w)
	*w = matrixSum[T]{}
	workspace.Put(w)
}

// Block adds some rows.
func (s *matrixSum[T]) Block(_, b int) {
	var tile [transposeTile * transposeTile]T
	first := b * transposeTile
	rows, end := min(transposeTile, s.dst.Rows-first), s.dst.Cols
	if !s.transposed {
		addMatrix(block(s.dst, first, 0, rows, end), s.alpha, block(s.src, first, 0, rows, end))
		return
	}
	if s.lower {
		end = first + rows
	}
	for j := 0; j < end; j += transposeTile {
		cols := min(transposeTile, end-j)
		dense.Transpose(tile[:], transposeTile, s.src.Data[j*s.src.Stride+first:], s.src.Stride, cols, rows)
		for i := range rows {
			n := cols
			if s.lower {
				n = min(cols, first+i+1-j)
			}
			vec.Axpy(s.alpha, tile[i*transposeTile:][:n], s.dst.Row(first + i)[j:j+n])
		}
	}
}

// mirror copies the strict upper triangle of m to the lower one.
func mirror[T rev.Float](m rev.General[T]) {
	n := m.Rows
	for j := 0; j < n; j += transposeTile {
		end := min(j+transposeTile, n)
		for i := j; i < end; i++ {
			for l := j; l < i; l++ {
				m.Data[i*m.Stride+l] = m.Data[l*m.Stride+i]
			}
		}
		if end < n {
			dense.Transpose(m.Data[end*m.Stride+j:], m.Stride, m.Data[j*m.Stride+end:], m.Stride, end-j, n-end)
		}
	}
}

// clearLower sets the strict lower triangle of m to zero.
func clearLower[T any](m rev.General[T]) {
	for i := range m.Rows {
		clear(m.Data[i*m.Stride : i*m.Stride+min(i, m.Cols)])
	}
}

// multiply computes c += sign·a·b with the given number of workers. It does nothing if
// an operand is nil.
func multiply[T rev.Real](workers int, c rev.General[T], sign int, a, b strided[T]) {
	w := workspace.Get[*products[T]]()
	w.workers = workers
	w.add(c, sign, a, b)
	w.run()
	workspace.Put(w)
}

// A sandwich has the product a·m of a·m·b.
type sandwich[T rev.Real] struct{ am rev.General[T] }

// addSandwich computes dst += sign·a·m·b with the given number of workers. It does nothing if
// dst or m is nil.
func addSandwich[T rev.Float](workers int, dst rev.General[T], sign int, a, m, b strided[T]) {
	if dst.Data == nil || m.data == nil {
		return
	}
	w := workspace.Get[*sandwich[T]]()
	w.am = zeros(w.am, a.rows, m.cols)
	multiply(workers, w.am, 1, a, m)
	multiply(workers, dst, sign, view(w.am, false), b)
	workspace.Put(w)
}

// gemm computes c += alpha·a·b.
func gemm[T rev.Float](alpha T, a strided[T], b, c rev.General[T]) {
	dense.Gemm(a.rows, b.Cols, a.cols, alpha, a.data, a.rs, a.cs, b.Data, b.Stride, 1, c.Data, c.Stride)
}

// sub returns rows i to i+r-1 and columns j to j+c-1 of s.
func (s strided[T]) sub(i, j, r, c int) strided[T] {
	if r == 0 || c == 0 {
		return strided[T]{rows: r, cols: c}
	}
	return strided[T]{r, c, s.data[i*s.rs+j*s.cs:], s.rs, s.cs}
}

// divideRow computes x /= d. It multiplies by 1/d unless that is near the ends of the range: it may overflow, or
// be subnormal, which is less precise, and 0 to a thread that flushes such numbers.
func divideRow[T rev.Float](x []T, d T) {
	if isModerate(d) {
		vec.ScaleTo(x, 1/d, x)
		return
	}
	for i := range x {
		x[i] /= d
	}
}

// A triangle is a triangular matrix. The elements on its other side are not read.
type triangle[T rev.Float] struct {
	strided[T]
	lower, unit bool // unit: the diagonal is 1 and not read
}

// A triangularSolve computes Y = T⁻¹·B, or Y = T₂⁻¹·T₁⁻¹·B, and then X += alpha·Y. It
// works on blocks of columns. Y and X may be nil, and Y may be B. The bits
// of a column of Y do not depend on the other columns, so the blocks may depend on the
// number of workers.
type triangularSolve[T rev.Float] struct {
	t       []triangle[T]
	before  []int // exchanges of rows of B before solving, in the form of luFactor
	after   []int // exchanges of rows of Y after solving, the last one first
	scaleB  []int // if not empty, row i of B is first multiplied by 2^scaleB[i]
	scaleY  []int // if not empty, row i of Y is multiplied by 2^scaleY[i] at the end
	b, y, x rev.General[T]
	alpha   T
	to      []int // if set, B is the identity, T₁ lower, and column j of Y is number to[j]

	cols   int         // of a block
	blocks []panels[T] // of each worker
}

const (
	panelCols  = 48      // columns of a panel, which products read row by row
	solveRows  = 128     // rows of X that are solved before the products with them
	solveCols  = 192     // largest number of columns of a block
	solveGrain = 16      // all blocks but the last have a multiple of this many columns
	solveWork  = 1 << 18 // least number of multiply-adds of a block
)

// solveTriangular computes X <- T⁻¹·X.
func solveTriangular[T rev.Float](workers int, t strided[T], lower, unit bool, x rev.General[T]) {
	w := workspace.Get[*triangularSolve[T]]()
	w.t = append(w.t, triangle[T]{t, lower, unit})
	w.b, w.y = x, x
	w.run(workers, x.Cols)
}

// run solves, the given number of columns at a time, and then drops its operands.
func (w *triangularSolve[T]) run(workers, cols int) {
	if n := w.t[0].rows; n > 0 && cols > 0 {
		workers = parallel.Workers(workers)
		parts := (cols-1)/solveCols + 1
		if workers > 1 {
			parts = ((parts-1)/(2*workers) + 1) * 2 * workers
		}
		w.cols = max((cols-1)/parts, solveWork/(n*n)) + 1
		w.cols = (w.cols + solveGrain - 1) / solveGrain * solveGrain
		w.blocks = workspace.Grow(w.blocks, max(len(w.blocks), workers))
		w.b.Cols = cols
		parallel.Run(workers, (cols-1)/w.cols+1, w)
	}
	clear(w.t)
	*w = triangularSolve[T]{t: w.t[:0], blocks: w.blocks}
	workspace.Put(w)
}

// Block solves for a block of columns.
func (w *triangularSolve[T]) Block(worker, b int) {
	n, lo := w.t[0].rows, b*w.cols
	p := w.blocks[worker].resize(n, min(w.cols, w.b.Cols-lo), min(panelCols, w.b.Cols))
	w.blocks[worker] = p
	first := 0
	for q := range p.count() {
		x, j := p.panel(q), lo+q*p.width
		if w.to != nil {
			clear(x.Data)
			for c := range x.Cols {
				x.Row(j + c)[c] = 1
			}
			first = lo
			continue
		}
		copyMatrix(x, block(w.b, 0, j, n, x.Cols))
		shiftRows(x, w.scaleB)
		for i, at := range w.before {
			swapRows(x, i, at)
		}
	}
	for _, t := range w.t {
		p.solve(t, first)
		first = 0
	}
	for q := range p.count() {
		x, j := p.panel(q), lo+q*p.width
		for i := len(w.after) - 1; i >= 0; i-- {
			swapRows(x, i, w.after[i])
		}
		shiftRows(x, w.scaleY)
		if w.to == nil {
			if w.y.Data != nil {
				copyMatrix(block(w.y, 0, j, n, x.Cols), x)
			}
			if w.x.Data != nil {
				addMatrix(block(w.x, 0, j, n, x.Cols), w.alpha, x)
			}
			continue
		}
		to := w.to[j : j+x.Cols]
		for i := range n {
			row := w.y.Row(i)
			for c, v := range x.Row(i) {
				row[to[c]] = v
			}
		}
	}
}

// panels hold columns of a matrix as matrices of a few columns each. Every one of these
// is contiguous.
type panels[T rev.Float] struct {
	rows, cols, width int
	data              []T
}

// resize returns panels with undefined elements in the storage of p.
func (p panels[T]) resize(rows, cols, width int) panels[T] {
	p.rows, p.cols, p.width = rows, cols, width
	p.data = workspace.Grow(p.data, p.count()*rows*width)
	return p
}

func (p panels[T]) count() int { return (p.cols-1)/p.width + 1 }

func (p panels[T]) panel(q int) rev.General[T] {
	return rev.General[T]{
		Rows: p.rows, Cols: min(p.width, p.cols-q*p.width), Stride: p.width,
		Data: p.data[q*p.rows*p.width : (q+1)*p.rows*p.width],
	}
}

// solve computes X <- T⁻¹·X. If T is lower, the rows of X before first are zero. All
// panels are multiplied by a block of T before the next block is used.
func (p panels[T]) solve(t triangle[T], first int) {
	n := t.rows
	first -= first % solveRows
	for done := first; done < n; done += solveRows {
		rows := min(solveRows, n-done)
		at := done
		if !t.lower {
			at = n - done - rows
		}
		for l := first; l < done; l += solveRows {
			from := l
			if !t.lower {
				from = n - l - solveRows
			}
			for q := range p.count() {
				x := p.panel(q)
				gemm(-1, t.sub(at, from, rows, solveRows), block(x, from, 0, solveRows, x.Cols), block(x, at, 0, rows, x.Cols))
			}
		}
		for q := range p.count() {
			x := p.panel(q)
			solveBlock(triangle[T]{t.sub(at, at, rows, rows), t.lower, t.unit}, block(x, at, 0, rows, x.Cols))
		}
	}
}

// solveBlock computes X <- T⁻¹·X for a small T.
func solveBlock[T rev.Float](t triangle[T], x rev.General[T]) {
	dense.TriSolve(t.rows, x.Cols, t.data, t.rs, t.cs, !t.lower, t.unit, x.Data, x.Stride)
}

// swapRows exchanges two rows of x.
func swapRows[T any](x rev.General[T], i, j int) {
	if i == j {
		return
	}
	var t [64]T
	a, b := x.Row(i), x.Row(j)
	for len(a) > 0 {
		n := copy(t[:], a)
		copy(a[:n], b)
		copy(b, t[:n])
		a, b = a[n:], b[n:]
	}
}

const (
	tileCols   = 48           // rows and columns of a tile
	tileStride = tileCols + 8 // rows do not meet in a few sets of the cache
)

// A tiledMatrix is a matrix of order n in blocks of columns, each of them contiguous, with
// the progress of the work on each. Blocks consist of square tiles.
type tiledMatrix[T rev.Float] struct {
	n     int
	data  []T
	steps parallel.Sequence
	done  []atomic.Int64
}

// begin makes c undefined and of order n.
func (c *tiledMatrix[T]) begin(n int) {
	blocks := (n + tileCols - 1) / tileCols
	c.n, c.data = n, workspace.Grow(c.data, blocks*n*tileStride)
	if cap(c.done) < blocks {
		c.done = make([]atomic.Int64, blocks)
	}
	c.done = c.done[:blocks]
	for j := range c.done {
		c.done[j].Store(0)
	}
	c.steps.Begin()
}

// nextPair returns the next step: 0, 1 and 0, 2 and so on, then 1, 2 and so on.
func (c *tiledMatrix[T]) nextPair() (k, j int) {
	j = c.steps.Take() + 1
	for j >= len(c.done) {
		k++
		j += k + 1 - len(c.done)
	}
	return k, j
}

// tiles returns tiles i to j-1 of block k.
func (c *tiledMatrix[T]) tiles(i, j, k int) rev.General[T] {
	lo, hi := i*tileCols, min(j*tileCols, c.n)
	return rev.General[T]{
		Rows: hi - lo, Cols: min(tileCols, c.n-k*tileCols), Stride: tileStride,
		Data: c.data[(k*c.n+lo)*tileStride : (k*c.n+hi)*tileStride],
	}
}

// tile returns tile i of block j.
func (c *tiledMatrix[T]) tile(i, j int) rev.General[T] { return c.tiles(i, i+1, j) }

// workersAbove returns the number of workers for a problem of order n. Up to order alone
// it is 1, because more workers would cost more than they save.
func workersAbove(alone, n, workers int) int {
	workers = parallel.Workers(workers)
	if n <= alone {
		return 1
	}
	return workers
}

// An upperUpdate computes C += alpha·A·B in the upper triangle of C. It writes blocks on
// the diagonal as a whole.
type upperUpdate[T rev.Float] struct {
	alpha T
	c     rev.General[T]
	a, b  strided[T]
	upper bool // A is upper triangular
}

func updateUpper[T rev.Float](workers int, alpha T, c rev.General[T], a, b strided[T], upper bool) {
	w := workspace.Get[*upperUpdate[T]]()
	*w = upperUpdate[T]{alpha, c, a, b, upper}
	parallel.Run(parallel.Workers(workers), (c.Rows+rowTile-1)/rowTile, w)
	*w = upperUpdate[T]{}
	workspace.Put(w)
}

// Block updates a block of rows from the diagonal on.
func (w *upperUpdate[T]) Block(_, b int) {
	lo, first := b*rowTile, 0
	if w.upper {
		first = lo
	}
	rows, cols := min(rowTile, w.c.Rows-lo), w.c.Cols-lo
	a, c := w.a.sub(lo, first, rows, w.a.cols-first), block(w.c, lo, lo, rows, cols)
	dense.Gemm(rows, cols, a.cols, w.alpha, a.data, a.rs, a.cs, w.b.data[first*w.b.rs+lo*w.b.cs:], w.b.rs, w.b.cs, c.Data, c.Stride)
}

// sqrt returns the square root of x.
func sqrt[T rev.Float](x T) T { return T(math.Sqrt(float64(x))) }

func isFinite(x float64) bool { return x-x == 0 }
