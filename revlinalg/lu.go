package revlinalg

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// An luFactor is P·A = L·U in progress and then the result. P exchanges rows, L is unit
// lower triangular with elements of at most 1, and U is upper triangular.
//
// The columns are cut into blocks, each of them contiguous. Block k is eliminated as a
// transposed copy, so that its columns are contiguous. It is applied to the blocks on
// its right as a triangular solve and a product of matrices. The worker that applies it
// to block k+1 then eliminates that block, while others do the rest.
//
// For block j, done counts the blocks that have been applied to it, itself included.
type luFactor[T rev.Float] struct {
	tiledMatrix[T]
	lu      rev.General[T] // L below the diagonal, U on it and above, after join
	diag    []T            // of U
	pivots  []int          // row i was exchanged with row pivots[i], in this order
	norms   []T            // largest magnitudes of the columns of A
	workers int
	shifts  []int // if not empty, rows of A were multiplied by 2^shifts[i]
	scaled  rev.General[T]

	a      rev.General[T]
	tops   rev.General[T] // the largest magnitudes in some rows of A
	joined bool
	panel  rev.General[T] // the block being eliminated, transposed
	corner rev.General[T] // scratch of factorPanel

	to []int // of inverse: the column of A⁻¹ that is a column of U⁻¹·L⁻¹
}

// luLeaf is the number of columns that are eliminated one by one.
const luLeaf = 8

// Up to order luAlone one worker does everything. Others would mostly wait for blocks
// to be eliminated, and then for the factors from its cache.
const luAlone = 160

// factorRegular computes the factors of A. It returns an error if A is singular to
// working precision, also after its rows are scaled to the same magnitude.
func (f *luFactor[T]) factorRegular(workers int, a rev.General[T]) error {
	f.factor(workers, a)
	err := checkPivots(f.n, f.norms, f.diag)
	if err != nil && f.equilibrate(a) {
		f.factor(workers, f.scaled)
		f.shifts = f.shifts[:f.n]
		err = checkPivots(f.n, f.norms, f.diag)
	}
	return err
}

// equilibrate puts A with rows multiplied by powers of two into scaled, and the
// exponents into the memory of shifts. It returns false if all exponents are the same.
func (f *luFactor[T]) equilibrate(a rev.General[T]) bool {
	shifts, differ := workspace.Zeros(f.shifts, a.Rows), false
	f.scaled, f.shifts = scratchCopy(f.scaled, a), shifts[:0]
	for i := range shifts {
		top := T(0)
		for _, v := range a.Row(i) {
			top = max(top, abs(v))
		}
		shifts[i] = -exponent(top)
		differ = differ || shifts[i] != shifts[0]
	}
	shiftRows(f.scaled, shifts)
	return differ
}

// exponent returns the e for which x is 2^e times a number in [1/2, 1). It returns 0 if x
// is 0 or not finite.
func exponent[T rev.Float](x T) int {
	_, e := math.Frexp(float64(x))
	return e
}

// shiftRows multiplies row i of m by 2^shifts[i].
func shiftRows[T rev.Float](m rev.General[T], shifts []int) {
	for i, shift := range shifts {
		for j, v := range m.Row(i) {
			m.Row(i)[j] = T(math.Ldexp(float64(v), shift))
		}
	}
}

// shiftColumns multiplies column j of m by 2^(sign·shifts[j]). It does nothing if there are
// no shifts.
func shiftColumns[T rev.Float](m rev.General[T], shifts []int, sign int) {
	for i := 0; i < m.Rows && len(shifts) > 0; i++ {
		for j, v := range m.Row(i) {
			m.Row(i)[j] = T(math.Ldexp(float64(v), sign*shifts[j]))
		}
	}
}

// factor computes the factors of A, in blocks.
func (f *luFactor[T]) factor(workers int, a rev.General[T]) {
	n := a.Rows
	f.workers = parallel.Workers(workers)
	f.begin(n)
	f.joined, f.shifts = false, f.shifts[:0]
	f.norms, f.pivots, f.diag = workspace.Zeros(f.norms, n), workspace.Grow(f.pivots, n), workspace.Grow(f.diag, n)
	f.a = a
	parts := (n + luRows - 1) / luRows
	f.tops = scratch(f.tops, 2*parts, n)
	workers = workersAbove(luAlone, n, workers)
	parallel.Run(workers, parts, (*luCopyIn[T])(f))
	for b := range parts {
		vec.MaxTo(f.norms, f.norms, f.tops.Row(2*b))
	}
	f.a = rev.General[T]{}
	if n > 0 {
		f.eliminate(0)
		parallel.Run(workers, len(f.done)*(len(f.done)-1)/2, f)
	}
}

// block returns block k.
func (f *luFactor[T]) block(k int) rev.General[T] { return f.tiles(0, len(f.done), k) }

// luRows is the number of rows of A that are copied at a time.
const luRows = 64

// luCopyIn is the copying of A to blocks.
type luCopyIn[T rev.Float] luFactor[T]

// Block copies some rows, and finds the largest magnitudes of their columns.
func (f *luCopyIn[T]) Block(_, b int) {
	norms, minus := f.tops.Row(2*b), f.tops.Row(2*b+1)
	clear(norms)
	for i := b * luRows; i < min((b+1)*luRows, f.n); i++ {
		row := f.a.Row(i)
		for j, at := 0, i*tileStride; j < f.n; j, at = j+tileCols, at+f.n*tileStride {
			copy(f.data[at:at+tileCols], row[j:])
		}
		vec.MaxTo(norms, norms, row)
		vec.ScaleTo(minus, -1, row)
		vec.MaxTo(norms, norms, minus)
	}
}

// join copies the blocks into a matrix.
func (f *luFactor[T]) join() {
	f.lu = scratch(f.lu, f.n, f.n)
	parallel.Run(workersAbove(luAlone, f.n, f.workers), len(f.done), (*luCopyOut[T])(f))
	f.joined = true
}

// luCopyOut is the copying of blocks to the result.
type luCopyOut[T rev.Float] luFactor[T]

// Block copies a block, with its rows exchanged as by the later blocks.
func (f *luCopyOut[T]) Block(_, k int) {
	to := block(f.lu, 0, k*tileCols, f.n, min(tileCols, f.n-k*tileCols))
	copyMatrix(to, (*luFactor[T])(f).block(k))
	for i := k*tileCols + to.Cols; i < f.n; i++ {
		swapRows(to, i, f.pivots[i])
	}
}

// Block applies a block to one on the right of it.
func (f *luFactor[T]) Block(_, _ int) {
	k, j := f.nextPair()
	f.steps.Do(func() bool {
		if !f.steps.Await(&f.done[k], k+1) || !f.steps.Await(&f.done[j], k) {
			return false
		}
		f.apply(k, j)
		if j == k+1 {
			f.eliminate(j)
		}
		return true
	})
}

// apply applies block k to block j.
func (f *luFactor[T]) apply(k, j int) {
	x, lo, p := f.block(j), k*tileCols, tileCols
	for i := lo; i < lo+p; i++ {
		swapRows(x, i, f.pivots[i])
	}
	l := view(f.block(k), false)
	top, below := block(x, lo, 0, p, x.Cols), f.n-lo-p
	solveBlock(triangle[T]{l.sub(lo, 0, p, p), true, true}, top)
	gemm(-1, l.sub(lo+p, 0, below, p), top, block(x, lo+p, 0, below, x.Cols))
	f.done[j].Store(int64(k + 1))
}

// eliminate factors block k. The earlier blocks have been applied to it.
func (f *luFactor[T]) eliminate(k int) {
	x, lo := f.block(k), k*tileCols
	p := x.Cols
	x = block(x, lo, 0, f.n-lo, p)
	f.panel = scratch(f.panel, p, x.Rows)
	copyTransposed(f.panel, x)
	f.factorPanel(lo, 0, p)
	copyTransposed(x, f.panel)
	for i := range p {
		f.diag[lo+i] = x.Row(i)[i]
	}
	f.done[k].Store(int64(k + 1))
}

// factorPanel factors columns lo to hi-1 of the panel, which are its rows, by halves.
// at is where the panel begins in the matrix.
func (f *luFactor[T]) factorPanel(at, lo, hi int) {
	if hi-lo <= luLeaf {
		for j := lo; j < hi; j++ {
			f.factorColumn(at, lo, j)
		}
		return
	}
	p := f.panel
	mid := lo + ((hi-lo)/2+luLeaf-1)/luLeaf*luLeaf
	f.factorPanel(at, lo, mid)
	c, r := mid-lo, hi-mid
	f.corner = scratch(f.corner, c, r)
	corner := block(p, mid, lo, r, c)
	copyTransposed(f.corner, corner)
	solveBlock(triangle[T]{view(block(p, lo, lo, c, c), true), true, true}, f.corner)
	copyTransposed(corner, f.corner)
	if below := p.Cols - mid; below > 0 {
		gemm(-1, view(corner, false), block(p, lo, mid, c, below), block(p, mid, mid, r, below))
	}
	f.factorPanel(at, mid, hi)
}

// factorColumn eliminates column j of the panel. The columns before lo have been applied
// to it.
func (f *luFactor[T]) factorColumn(at, lo, j int) {
	p := f.panel
	x := p.Row(j)
	for i := lo + 1; i < j; i++ {
		s := x[i]
		for l := lo; l < i; l++ {
			s -= T(p.Data[l*p.Stride+i] * x[l])
		}
		x[i] = s
	}
	rest := block(p, j, j, 1, p.Cols-j)
	if j > lo {
		gemm(-1, strided[T]{1, j - lo, x[lo:], 0, 1}, block(p, lo, j, j-lo, p.Cols-j), rest)
	}
	y := rest.Data
	pivot, largest := 0, uint64(0)
	for i, v := range y {
		// Magnitudes have the order of their bits. NaN must be the largest, or a 0
		// above it would make the matrix look singular.
		if b := math.Float64bits(float64(v)) << 1; b > largest {
			pivot, largest = i, b
		}
	}
	f.pivots[at+j] = at + j + pivot
	if pivot > 0 {
		for l := range p.Rows {
			row := p.Data[l*p.Stride+j:]
			row[0], row[pivot] = row[pivot], row[0]
		}
	}
	if y[0] != 0 {
		divideRow(y[1:], y[0])
	}
}

// pivotRatio returns max_j norms_j/|pivots_j| and its j. If the norms are the largest
// magnitudes in the columns of A, or in those of its factor R, this is, up to a factor of n,
// a lower bound of the condition number of A with columns scaled to the same magnitude.
func pivotRatio[T rev.Float](norms, pivots []T) (c T, at int) {
	c = 1
	for j, norm := range norms {
		if u := abs(pivots[j]); u == 0 {
			return T(math.Inf(1)), j
		} else if norm/u > c && isFinite(float64(norm)) {
			c, at = norm/u, j
		}
	}
	return c, at
}

// checkPivots returns an error if a factored matrix of m rows is singular to working
// precision.
func checkPivots[T rev.Float](m int, norms, pivots []T) error {
	if c, at := pivotRatio(norms, pivots); c >= 1/(T(m)*epsilon[T]()) {
		return &rev.SingularError{Index: at, Condition: mat.Condition(c)}
	}
	return nil
}

// determinant returns det A as m·2^e.
func (f *luFactor[T]) determinant() extendedNumber {
	d := extendedNumber{1, 0}
	for i, p := range f.pivots {
		if p != i {
			d.m = -d.m
		}
		d = d.times(float64(f.diag[i]))
	}
	for _, shift := range f.shifts {
		d.e -= shift
	}
	return d
}

// solve computes Y = A⁻¹·B, or A⁻ᵀ·B if trans is set, and X += alpha·Y. Y and X may
// be nil, and Y may be B.
func (f *luFactor[T]) solve(b rev.General[T], trans bool, y rev.General[T], alpha T, x rev.General[T]) {
	w := f.system(trans)
	if trans {
		w.after, w.scaleY = f.pivots, f.shifts
	} else {
		w.before, w.scaleB = f.pivots, f.shifts
	}
	w.b, w.y, w.alpha, w.x = b, y, alpha, x
	w.run(workersAbove(luAlone, max(f.n, b.Cols), f.workers), b.Cols)
}

// system returns a workspace with the factors of A or Aᵀ.
func (f *luFactor[T]) system(trans bool) *triangularSolve[T] {
	w := workspace.Get[*triangularSolve[T]]()
	if !f.joined {
		f.join()
	}
	lu := view(f.lu, trans)
	w.t = append(w.t, triangle[T]{lu, true, !trans}, triangle[T]{lu, false, trans})
	return w
}

// inverse sets dst to A⁻¹ = U⁻¹·L⁻¹·P.
func (f *luFactor[T]) inverse(dst rev.General[T]) rev.General[T] {
	n := f.n
	dst = scratch(dst, n, n)
	f.to = workspace.Grow(f.to, n)
	for j := range f.to {
		f.to[j] = j
	}
	for i, p := range f.pivots {
		f.to[i], f.to[p] = f.to[p], f.to[i]
	}
	w := f.system(false)
	w.y, w.to = dst, f.to
	w.run(workersAbove(luAlone, n, f.workers), n)
	shiftColumns(dst, f.shifts, 1)
	return dst
}

// epsilon returns the distance from 1 to the next number.
func epsilon[T rev.Float]() T {
	if T(1)+0x1p-30 == 1 {
		return 0x1p-23
	}
	return 0x1p-52
}

func abs[T rev.Float](x T) T { return T(math.Abs(float64(x))) }

// An extendedNumber number is m·2^e, and does not overflow.
type extendedNumber struct {
	m float64
	e int
}

func (x extendedNumber) times(v float64) extendedNumber {
	m, e := math.Frexp(v)
	m, f := math.Frexp(x.m * m)
	return extendedNumber{m, x.e + e + f}
}

func (x extendedNumber) mul(y extendedNumber) extendedNumber {
	z := x.times(y.m)
	z.e += y.e
	return z
}

// float returns x.
func (x extendedNumber) float() float64 { return math.Ldexp(x.m, x.e) }
