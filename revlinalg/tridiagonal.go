package revlinalg

import (
	"math"

	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// A tridiagonal reduces a symmetric matrix A to a tridiagonal matrix T = Qᵀ·A·Q.
//
// Row k of the lower triangle, from the last row up, is reduced by a reflection
// H_k = I - τ·v·vᵀ of the first k coordinates, which leaves only its last element. With
//
//	y = τ·A·v,  w = y - τ/2·(yᵀ·v)·v,  H·A·H = A - v·wᵀ - w·vᵀ
//
// (Golub and Van Loan 2013, 8.3.1). The updates of a panel of rows are applied together, as
// a product of matrices. Until then each row of the panel, and each y, is corrected by the
// vectors before it (Dongarra, Hammarling and Sorensen 1989). One half of the operations
// are the products A·v, which read the lower triangle once per row.
type tridiagonal struct {
	workers   int
	n         int
	a         rev.General[float64] // A, and then v of row k in row k; whole units of dense.SymvOrder
	d, e, tau []float64            // the diagonal of T, the elements below it and one more, and τ of each row

	u, s  rev.General[float64] // v and w of each row of the panel, and w and v
	m     int                  // vectors in u
	dots  []float64
	sums  rev.General[float64] // A·v by parts of the rows of A
	order int                  // of the leading matrix
	form  rev.General[float64] // a panel of v, of T⁻¹, and Vᵀ·Q
	t, vq rev.General[float64]
}

const (
	tridiagonalPanel = 16
	symvParts        = 4   // parts of the rows of A
	symvAlone        = 384 // up to this order there is one part
	formPanel        = 32
	multiplyPanel    = 64 // where all rows have all columns
)

// begin makes the matrix of order n undefined. The caller sets its lower triangle, and its
// upper triangle in the blocks of order dense.SymvOrder on the diagonal. The rest of
// these blocks is zero.
func (w *tridiagonal) begin(workers, n int) {
	order := (n + dense.SymvOrder - 1) / dense.SymvOrder * dense.SymvOrder
	w.workers, w.n = workers, n
	w.a = scratch(w.a, order, order)
	for i := range order {
		clear(w.a.Row(i)[min(n, i&^(dense.SymvOrder-1)):])
	}
	for i := n; i < order; i++ {
		clear(w.a.Row(i))
	}
	w.d, w.e, w.tau = workspace.Grow(w.d, n), workspace.Grow(w.e, n), workspace.Grow(w.tau, n)
	w.u, w.s = scratch(w.u, 2*tridiagonalPanel, order), scratch(w.s, 2*tridiagonalPanel, order)
	w.dots = workspace.Grow(w.dots, 2*tridiagonalPanel)
	w.sums = scratch(w.sums, symvParts, order)
}

// reduce sets d and e. The largest element of A is between 2⁻¹⁰⁰ and 2³⁰⁰, and rows below
// 2⁻⁴⁸⁰ count as 0.
func (w *tridiagonal) reduce() {
	for hi := w.n; hi > 0; hi = w.order {
		w.order, w.m = (hi-1)/tridiagonalPanel*tridiagonalPanel, 0
		for k := hi - 1; k >= w.order; k-- {
			w.row(k)
		}
		parallel.Run(workersAbove(symvAlone, w.order, w.workers), (w.order+rowTile-1)/rowTile, (*leadingUpdate)(w))
	}
}

// row reduces row k.
func (w *tridiagonal) row(k int) {
	x := w.a.Row(k)[:k]
	if w.m > 0 {
		dense.Gemm(1, k+1, w.m, -1, w.s.Data[k:], 0, w.s.Stride, w.u.Data, w.u.Stride, 1, w.a.Row(k), k+1)
	}
	w.d[k] = w.a.Row(k)[k]
	if k == 0 {
		return
	}
	w.e[k-1], w.tau[k] = reflection(x, k-1)
	tau := w.tau[k]
	if tau == 0 {
		return
	}
	v, y := w.u.Row(w.m), w.u.Row(w.m+1)
	copy(v, x)
	order := (k + dense.SymvOrder - 1) / dense.SymvOrder * dense.SymvOrder
	clear(v[k:order])
	w.multiply(order, v, y)
	v, y = v[:k], y[:k]
	if w.m > 0 {
		clear(w.dots)
		dense.Gemm(w.m, 1, k, 1, w.s.Data, w.s.Stride, 1, v, 1, 1, w.dots, 1)
		dense.Gemm(1, k, w.m, -1, w.dots, 0, 1, w.u.Data, w.u.Stride, 1, y, k)
	}
	half := tau * tau / 2 * vec.Dot(y, v)
	vec.ScaleTo(y, tau, y)
	vec.Axpy(-half, v, y)
	copy(w.s.Row(w.m), y)
	copy(w.s.Row(w.m+1), v)
	w.m += 2
}

// reflection makes x the vector v of a reflection I - τ·v·vᵀ which takes x to β times the
// unit vector at, with v_at = 1. If there is nothing to reduce, τ is 0, and so is v.
func reflection(x []float64, at int) (beta, tau float64) {
	alpha := x[at]
	x[at] = 0
	rest := vec.SumSquares(x)
	if rest < 0x1p-960 {
		clear(x)
		return alpha, 0
	}
	beta = -math.Copysign(math.Sqrt(float64(alpha*alpha)+rest), alpha)
	vec.ScaleTo(x, 1/(alpha-beta), x)
	x[at] = 1
	return beta, (beta - alpha) / beta
}

// multiply sets y to A·v, for the leading matrix of the given order.
func (w *tridiagonal) multiply(order int, v, y []float64) {
	clear(y[:order])
	if order <= symvAlone {
		dense.Symv(0, order, w.a.Data, w.a.Stride, v, y)
		return
	}
	t := workspace.Get[*symvTask]()
	*t = symvTask{w, order, v, y}
	parallel.Run(parallel.Workers(w.workers), symvParts, t)
	*t = symvTask{}
	workspace.Put(t)
	for part := 1; part < symvParts; part++ {
		vec.AddTo(y[:order], y[:order], w.sums.Row(part)[:order])
	}
}

// A symvTask is a product A·v. The parts of the rows of A have about as many elements each.
type symvTask struct {
	w     *tridiagonal
	order int
	v, y  []float64
}

// Block multiplies part b.
func (t *symvTask) Block(_, b int) {
	y := t.y
	if b > 0 {
		y = t.w.sums.Row(b)
		clear(y[:t.order])
	}
	from := func(b int) int {
		return int(float64(t.order)*math.Sqrt(float64(b)/symvParts)) / dense.SymvOrder * dense.SymvOrder
	}
	dense.Symv(from(b), from(b+1), t.w.a.Data, t.w.a.Stride, t.v, y)
}

// A leadingUpdate subtracts the products of the vectors of a panel from the leading matrix.
type leadingUpdate tridiagonal

// Block updates some rows, up to the end of the block on the diagonal.
func (w *leadingUpdate) Block(_, b int) {
	lo := b * rowTile
	hi := min(lo+rowTile, w.order)
	if w.m > 0 {
		dense.Gemm(hi-lo, hi, w.m, -1, w.u.Data[lo:], 1, w.u.Stride, w.s.Data, w.s.Stride, 1, w.a.Data[lo*w.a.Stride:], w.a.Stride)
	}
}

// formTransposed sets q to Qᵀ, the product H_1·H_2·...·H_{n-1}. A panel of reflections is
// applied as I - V·T·Vᵀ, where T⁻¹ is the upper triangle of VᵀV with 1/τ on the diagonal
// (Puglisi 1992). It changes only the leading matrix of Q.
func (w *tridiagonal) formTransposed(q rev.General[float64]) {
	for i := range w.n {
		clear(q.Row(i))
		q.Row(i)[i] = 1
	}
	w.apply(formPanel, func(order int) rev.General[float64] { return block(q, 0, 0, order, order) })
}

// multiplyTransposed multiplies x by Qᵀ from the right.
func (w *tridiagonal) multiplyTransposed(x rev.General[float64]) {
	w.apply(multiplyPanel, func(order int) rev.General[float64] { return block(x, 0, 0, x.Rows, order) })
}

// apply multiplies matrices by the reflections from the right, a panel after the other. A panel
// changes the columns up to an order, of the matrix that of returns.
func (w *tridiagonal) apply(panel int, of func(order int) rev.General[float64]) {
	for lo := 1; lo < w.n; lo += panel {
		p := min(panel, w.n-lo)
		m := lo + p - 1
		w.form = scratch(w.form, p, m)
		for i := range p {
			clear(w.form.Row(i)[copy(w.form.Row(i), w.a.Row(lo + i)[:lo+i]):])
		}
		applyReflections(w.workers, w.form, w.tau[lo:lo+p], of(m), &w.t, &w.vq)
	}
}

// applyReflections computes Y <- Y·(I - V·T·Vᵀ), the product of Y and the reflections with
// the rows of v, the first one first.
func applyReflections(workers int, v rev.General[float64], tau []float64, y rev.General[float64], t, vy *rev.General[float64]) {
	p := v.Rows
	*t, *vy = zeros(*t, p, p), zeros(*vy, p, y.Rows)
	gemmTransposed(v, v, *t)
	for i, tau := range tau {
		t.Row(i)[i] = 1
		if tau != 0 {
			t.Row(i)[i] = 1 / tau
		}
	}
	multiply(workers, *vy, 1, view(v, false), view(y, true))
	dense.TriSolve(p, y.Rows, t.Data, 1, t.Stride, false, false, vy.Data, vy.Stride)
	multiply(workers, y, -1, view(*vy, true), view(v, false))
}
