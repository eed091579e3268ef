package revlinalg

import (
	"math"

	"revnum/internal/parallel"
	"revnum/internal/simd"
	"revnum/internal/workspace"
	"revnum/rev"
)

// What the factorisations have in common: they copy their operands to scratch
// matrices by rows, halve these down to blocks of base rows, and leave nearly
// all work to products of matrices. Blocks depend on the shape alone.

const (
	base       = 16 // rows of a triangle that is solved row by row
	columnTile = 48 // columns that a worker takes at least
	rowTile    = 64 // rows of a block of a symmetric update
)

// scratch returns an r×c matrix with undefined elements, in the storage of m if
// that is large enough. The stride of wide ones is an odd number of half cache
// lines or lines, so that columns do not meet in a few sets of the cache.
func scratch[T rev.Float](m rev.General[T], r, c int) rev.General[T] {
	ld := max(c, 1)
	if c > 16 {
		ld = (c+15)&^15 + 8
	}
	return rev.General[T]{Rows: r, Cols: c, Stride: ld, Data: workspace.Grow(m.Data, r*ld)}
}

// zeros is scratch with all elements zero.
func zeros[T rev.Float](m rev.General[T], r, c int) rev.General[T] {
	m = scratch(m, r, c)
	clear(m.Data)
	return m
}

// block returns rows i to i+r-1 and columns j to j+c-1 of m, sharing its
// storage.
func block[T any](m rev.General[T], i, j, r, c int) rev.General[T] {
	b := rev.General[T]{Rows: r, Cols: c, Stride: m.Stride}
	if r > 0 && c > 0 {
		b.Data = m.Data[i*m.Stride+j : (i+r-1)*m.Stride+j+c]
	}
	return b
}

// half returns where n is cut into two, at a multiple of base.
func half(n int) int { return max(base, (n/2+base-1)/base*base) }

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

// addMatrix computes dst += alpha·src, or nothing if dst is nil.
func addMatrix[T rev.Float](dst rev.General[T], alpha T, src rev.General[T]) {
	if dst.Data == nil {
		return
	}
	for i := range src.Rows {
		simd.Axpy(alpha, src.Row(i), dst.Row(i))
	}
}

// addUpper computes dst += alpha·src in the upper triangle, or nothing if dst
// is nil.
func addUpper[T rev.Float](dst rev.General[T], alpha T, src rev.General[T]) {
	if dst.Data == nil {
		return
	}
	for i := range src.Rows {
		simd.Axpy(alpha, src.Row(i)[i:], dst.Row(i)[i:])
	}
}

// copyTransposed copies srcᵀ to dst.
func copyTransposed[T rev.Float](dst, src rev.General[T]) {
	simd.Transpose(dst.Data, dst.Stride, src.Data, src.Stride, src.Rows, src.Cols)
}

// transposeTile is the order of the squares that are transposed on the way.
const transposeTile = 32

// A transposedSum is dst += alpha·srcᵀ in progress, or that in the lower triangle.
type transposedSum[T rev.Float] struct {
	alpha    T
	dst, src rev.General[T]
	lower    bool
}

// addTransposed computes dst += alpha·srcᵀ, or nothing if dst is nil.
func addTransposed[T rev.Float](workers int, dst rev.General[T], alpha T, src rev.General[T]) {
	transposedSum[T]{alpha, dst, src, false}.run(workers)
}

// addLower computes l += alpha·uᵀ in the lower triangle, or nothing if l is nil.
func addLower[T rev.Float](workers int, l rev.General[T], alpha T, u rev.General[T]) {
	transposedSum[T]{alpha, l, u, true}.run(workers)
}

func (s transposedSum[T]) run(workers int) {
	if s.dst.Data == nil {
		return
	}
	w := workspace.Get[transposedSum[T]]()
	*w = s
	parallel.Run(parallel.Workers(workers), (s.dst.Rows+transposeTile-1)/transposeTile, w)
	*w = transposedSum[T]{}
	workspace.Put(w)
}

// Block adds some rows.
func (s *transposedSum[T]) Block(_, b int) {
	var tile [transposeTile * transposeTile]T
	first := b * transposeTile
	rows, end := min(transposeTile, s.dst.Rows-first), s.dst.Cols
	if s.lower {
		end = first + rows
	}
	for j := 0; j < end; j += transposeTile {
		cols := min(transposeTile, end-j)
		simd.Transpose(tile[:], transposeTile, s.src.Data[j*s.src.Stride+first:], s.src.Stride, cols, rows)
		for i := range rows {
			n := cols
			if s.lower {
				n = min(cols, first+i+1-j)
			}
			simd.Axpy(s.alpha, tile[i*transposeTile:][:n], s.dst.Row(first + i)[j:j+n])
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
			simd.Transpose(m.Data[end*m.Stride+j:], m.Stride, m.Data[j*m.Stride+end:], m.Stride, end-j, n-end)
		}
	}
}

// clearLower sets the strict lower triangle of m to zero.
func clearLower[T any](m rev.General[T]) {
	for i := range m.Rows {
		clear(m.Data[i*m.Stride : i*m.Stride+min(i, m.Cols)])
	}
}

// multiply computes c += sign·a·b with the given number of workers.
func multiply[T rev.Float](workers int, c rev.General[T], sign int, a, b strided[T]) {
	k := MatMul[T]{Workers: workers}
	k.multiply(c, sign, a, b)
}

// gemm computes c += alpha·a·b.
func gemm[T rev.Float](alpha T, a strided[T], b, c rev.General[T]) {
	simd.Gemm(a.rows, b.Cols, a.cols, alpha, a.data, a.rs, a.cs, b.Data, b.Stride, 1, c.Data, c.Stride)
}

// sub returns rows i to i+r-1 and columns j to j+c-1 of s.
func (s strided[T]) sub(i, j, r, c int) strided[T] {
	if r == 0 || c == 0 {
		return strided[T]{rows: r, cols: c}
	}
	return strided[T]{r, c, s.data[i*s.rs+j*s.cs:], s.rs, s.cs}
}

// divideRow computes x /= d, by a product where that can be.
func divideRow[T rev.Float](x []T, d T) {
	if r := 1 / d; isFinite(float64(r)) {
		simd.ScaleTo(x, r, x)
		return
	}
	for i := range x {
		x[i] /= d
	}
}

// A triangularSolve is X <- T⁻¹·X in progress, where T is triangular and the
// elements on its other side are not read.
type triangularSolve[T rev.Float] struct {
	t           strided[T]
	lower, unit bool // unit: the diagonal is 1 and not read
	x           rev.General[T]
	cols        int // of a block
}

// solveTriangular computes X <- T⁻¹·X.
func solveTriangular[T rev.Float](workers int, t strided[T], lower, unit bool, x rev.General[T]) {
	if x.Rows == 0 || x.Cols == 0 {
		return
	}
	w := workspace.Get[triangularSolve[T]]()
	cols := max(columnTile, 1<<18/(x.Rows*x.Rows))
	cols = (cols + columnTile - 1) / columnTile * columnTile
	*w = triangularSolve[T]{t, lower, unit, x, cols}
	parallel.Run(parallel.Workers(workers), (x.Cols+cols-1)/cols, w)
	*w = triangularSolve[T]{}
	workspace.Put(w)
}

// Block solves for a block of columns.
func (w *triangularSolve[T]) Block(_, b int) {
	lo := b * w.cols
	w.solve(w.t, block(w.x, 0, lo, w.x.Rows, min(w.cols, w.x.Cols-lo)))
}

func (w *triangularSolve[T]) solve(t strided[T], x rev.General[T]) {
	n := x.Rows
	if n <= base {
		for r := range n {
			i, first := r, 0
			if !w.lower {
				i, first = n-1-r, n-r
			}
			if r > 0 {
				gemm(-1, t.sub(i, first, 1, r), block(x, first, 0, r, x.Cols), block(x, i, 0, 1, x.Cols))
			}
			if !w.unit {
				divideRow(x.Row(i), t.data[i*(t.rs+t.cs)])
			}
		}
		return
	}
	m := half(n)
	top, bottom := block(x, 0, 0, m, x.Cols), block(x, m, 0, n-m, x.Cols)
	if w.lower {
		w.solve(t.sub(0, 0, m, m), top)
		gemm(-1, t.sub(m, 0, n-m, m), top, bottom)
		w.solve(t.sub(m, m, n-m, n-m), bottom)
		return
	}
	w.solve(t.sub(m, m, n-m, n-m), bottom)
	gemm(-1, t.sub(0, m, m, n-m), bottom, top)
	w.solve(t.sub(0, 0, m, m), top)
}

// An upperUpdate is C += alpha·A·B in the upper triangle of C in progress.
// Blocks on the diagonal are written whole.
type upperUpdate[T rev.Float] struct {
	alpha T
	c     rev.General[T]
	a, b  strided[T]
}

func updateUpper[T rev.Float](workers int, alpha T, c rev.General[T], a, b strided[T]) {
	w := workspace.Get[upperUpdate[T]]()
	*w = upperUpdate[T]{alpha, c, a, b}
	parallel.Run(parallel.Workers(workers), (c.Rows+rowTile-1)/rowTile, w)
	*w = upperUpdate[T]{}
	workspace.Put(w)
}

// Block updates a block of rows from the diagonal on.
func (w *upperUpdate[T]) Block(_, b int) {
	lo := b * rowTile
	rows, cols := min(rowTile, w.c.Rows-lo), w.c.Cols-lo
	a, c := w.a.sub(lo, 0, rows, w.a.cols), block(w.c, lo, lo, rows, cols)
	simd.Gemm(rows, cols, a.cols, w.alpha, a.data, a.rs, a.cs, w.b.data[lo*w.b.cs:], w.b.rs, w.b.cs, c.Data, c.Stride)
}

// sqrt returns the square root of x.
func sqrt[T rev.Float](x T) T { return T(math.Sqrt(float64(x))) }
