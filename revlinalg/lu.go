package revlinalg

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/parallel"
	"revnum/internal/workspace"
	"revnum/rev"
)

// luPanel is the number of columns that are eliminated at a time.
const luPanel = 32

// singular is the error for a matrix without an inverse.
var singular error = mat.Condition(math.Inf(1)) //nolint:errname // a value of gonum's type, not a new error

// An luFactor is P·A = L·U in progress and then the result, where P exchanges
// rows, L is unit lower triangular with elements of at most 1, and U is upper
// triangular. A panel of columns is eliminated as a transposed copy, so that
// columns are contiguous; the rest of the matrix takes part in it as a
// triangular solve and a product of matrices.
type luFactor[T rev.Float] struct {
	lu      rev.General[T] // L below the diagonal, U on it and above
	pivots  []int          // row i was exchanged with row pivots[i], in this order
	norms   []T            // largest magnitudes of the columns of A
	workers int

	panel rev.General[T]
	k     int // first row and column of the panel
	cols  int // of a block of columns to its right
}

// factor computes the factors of A.
func (f *luFactor[T]) factor(workers int, a rev.General[T]) {
	n := a.Rows
	f.workers = workers
	f.lu = scratch(f.lu, n, n)
	copyMatrix(f.lu, a)
	f.norms = workspace.Zeros(f.norms, n)
	for i := range n {
		for j, v := range f.lu.Row(i) {
			if v = abs(v); v > f.norms[j] {
				f.norms[j] = v
			}
		}
	}
	f.pivots = workspace.Grow(f.pivots, n)
	for f.k = 0; f.k < n; f.k += luPanel {
		p := min(luPanel, n-f.k)
		f.panel = scratch(f.panel, p, n-f.k)
		copyTransposed(f.panel, block(f.lu, f.k, f.k, n-f.k, p))
		f.eliminate()
		copyTransposed(block(f.lu, f.k, f.k, n-f.k, p), f.panel)
		f.exchange(block(f.lu, 0, 0, n, f.k), f.k, f.k+p)
		right := n - f.k - p
		f.cols = max(columnTile, 1<<18/((n-f.k)*p))
		f.cols = (f.cols + columnTile - 1) / columnTile * columnTile
		parallel.Run(parallel.Workers(workers), (right+f.cols-1)/f.cols, f)
	}
}

// eliminate factors the panel, whose rows are columns of the matrix.
func (f *luFactor[T]) eliminate() {
	p := f.panel
	for j := range p.Rows {
		x := p.Row(j)
		for i := 1; i < j; i++ {
			s := x[i]
			for l := range i {
				s -= T(p.Data[l*p.Stride+i] * x[l])
			}
			x[i] = s
		}
		rest := block(p, j, j, 1, p.Cols-j)
		if j > 0 {
			gemm(-1, strided[T]{1, j, x, 0, 1}, block(p, 0, j, j, p.Cols-j), rest)
		}
		y := rest.Data
		at := 0
		for i, v := range y {
			if abs(v) > abs(y[at]) || math.IsNaN(float64(v)) { // or a 0 above it would stand for a singular matrix
				at = i
			}
		}
		f.pivots[f.k+j] = f.k + j + at
		if at > 0 {
			for l := range p.Rows {
				row := p.Data[l*p.Stride+j:]
				row[0], row[at] = row[at], row[0]
			}
		}
		if y[0] != 0 {
			divideRow(y[1:], y[0])
		}
	}
}

// exchange exchanges the rows of x as elimination of columns lo to hi-1 did.
func (f *luFactor[T]) exchange(x rev.General[T], lo, hi int) {
	for i := lo; i < hi; i++ {
		f.swap(x, i)
	}
}

func (f *luFactor[T]) swap(x rev.General[T], i int) {
	if j := f.pivots[i]; j != i {
		a, b := x.Row(i), x.Row(j)
		for l, v := range a {
			a[l], b[l] = b[l], v
		}
	}
}

// Block updates a block of columns to the right of the panel.
func (f *luFactor[T]) Block(_, b int) {
	n, p := f.lu.Rows, f.panel.Rows
	lo := f.k + p + b*f.cols
	cols := min(f.cols, n-lo)
	f.exchange(block(f.lu, 0, lo, n, cols), f.k, f.k+p)
	top := block(f.lu, f.k, lo, p, cols)
	l := view(f.panel, true)
	s := triangularSolve[T]{lower: true, unit: true}
	s.solve(l.sub(0, 0, p, p), top)
	if below := n - f.k - p; below > 0 {
		gemm(-1, l.sub(p, 0, below, p), top, block(f.lu, f.k+p, lo, below, cols))
	}
}

// condition returns max_j ‖a_j‖/|u_jj|, the largest ratio of the magnitudes in
// a column of A to its pivot. Up to a factor of n it is a lower bound of the
// condition number of A with columns scaled to the same magnitude.
func (f *luFactor[T]) condition() T {
	c := T(1)
	for j, norm := range f.norms {
		if u := abs(f.lu.Row(j)[j]); u == 0 {
			return T(math.Inf(1))
		} else if norm/u > c && isFinite(float64(norm)) {
			c = norm / u
		}
	}
	return c
}

// check returns an error if A is singular to working precision.
func (f *luFactor[T]) check() error {
	if c := f.condition(); c >= 1/(T(f.lu.Rows)*epsilon[T]()) {
		return mat.Condition(c)
	}
	return nil
}

// determinant returns det A as m·2^e.
func (f *luFactor[T]) determinant() extended {
	d := extended{1, 0}
	for i, p := range f.pivots {
		if p != i {
			d.m = -d.m
		}
		d = d.times(float64(f.lu.Row(i)[i]))
	}
	return d
}

// solve computes X <- A⁻¹·X, or X <- A⁻ᵀ·X if trans is set.
func (f *luFactor[T]) solve(x rev.General[T], trans bool) {
	lu := view(f.lu, trans)
	if !trans {
		f.exchange(x, 0, f.lu.Rows)
	}
	solveTriangular(f.workers, lu, true, !trans, x)
	solveTriangular(f.workers, lu, false, trans, x)
	if trans {
		for i := f.lu.Rows - 1; i >= 0; i-- {
			f.swap(x, i)
		}
	}
}

// inverse sets dst to A⁻¹.
func (f *luFactor[T]) inverse(dst rev.General[T]) rev.General[T] {
	n := f.lu.Rows
	dst = zeros(dst, n, n)
	for i := range n {
		dst.Row(i)[i] = 1
	}
	f.solve(dst, false)
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

// An extended number is m·2^e, and does not overflow.
type extended struct {
	m float64
	e int
}

func (x extended) times(v float64) extended {
	m, e := math.Frexp(v)
	m, f := math.Frexp(x.m * m)
	return extended{m, x.e + e + f}
}

func (x extended) mul(y extended) extended {
	z := x.times(y.m)
	z.e += y.e
	return z
}

// float returns x.
func (x extended) float() float64 { return math.Ldexp(x.m, x.e) }
