package revlinalg

import (
	"revnum/internal/simd/dense"
	"revnum/internal/workspace"
	"revnum/rev"
)

// A bidiagonal reduces an m×n matrix A, with m >= n, to an upper bidiagonal matrix
// B = Qᵀ·A·P.
//
// Column k is reduced by a reflection I - τ·v·vᵀ from the left, and then row k by a
// reflection I - σ·u·uᵀ from the right. With
//
//	y = τ·Aᵀ·v,  x = σ·(A - v·yᵀ)·u,
//
// they make A - v·yᵀ - x·uᵀ of A (Golub and Van Loan 2013, 5.4.8). The updates of a panel
// are applied together, as a product of matrices. Until then each column and row of the
// panel, and each y and x, is corrected by the vectors before it (Dongarra, Hammarling and
// Sorensen 1989).
type bidiagonal struct {
	workers    int
	a          rev.General[float64]
	d, e       []float64            // the diagonal of B, and the elements to the right of it and one more
	v, u       rev.General[float64] // of each column and of each row
	tau, sigma []float64

	l, r rev.General[float64] // v and x, and y and u, of each column of the panel
	dots []float64

	form, t, vq rev.General[float64]
}

const bidiagonalPanel = 16

// begin makes the matrix undefined. The caller sets a.
func (w *bidiagonal) begin(workers, m, n int) {
	w.workers, w.a = workers, scratch(w.a, m, n)
	w.d, w.e = workspace.Grow(w.d, n), workspace.Grow(w.e, n)
	w.tau, w.sigma = workspace.Grow(w.tau, n), workspace.Grow(w.sigma, n)
	w.v, w.u = zeros(w.v, n, m), zeros(w.u, n, n)
	w.l, w.r = scratch(w.l, 2*bidiagonalPanel, m), scratch(w.r, 2*bidiagonalPanel, n)
	w.dots = workspace.Grow(w.dots, 2*bidiagonalPanel)
}

// reduce sets d and e. The largest element of A is between 2⁻¹⁰⁰ and 2³⁰⁰, and columns and
// rows below 2⁻⁴⁸⁰ count as 0.
func (w *bidiagonal) reduce() {
	m, n := w.a.Rows, w.a.Cols
	for lo := 0; lo < n; lo += bidiagonalPanel {
		hi := min(lo+bidiagonalPanel, n)
		for k := lo; k < hi; k++ {
			w.step(k, 2*(k-lo))
		}
		if hi < n {
			p := 2 * (hi - lo)
			l, r := block(w.l, 0, hi, p, m-hi), block(w.r, 0, hi, p, n-hi)
			multiply(w.workers, block(w.a, hi, hi, m-hi, n-hi), -1, view(l, true), view(r, false))
		}
	}
}

// step reduces column and row k, after those with the first p vectors of the panel.
func (w *bidiagonal) step(k, p int) {
	m, n := w.a.Rows, w.a.Cols
	ld := w.a.Stride
	v := w.v.Row(k)[k:]
	for i := range v {
		v[i] = w.a.Data[(k+i)*ld+k]
	}
	subtract(v, w.r, k, p, w.l, k)
	w.d[k], w.tau[k] = reflection(v, 0)
	vk, x := w.l.Row(p)[k:], w.l.Row(p+1)
	copy(vk, v)
	if k+1 == n {
		return
	}
	y, uk := w.r.Row(p)[k+1:], w.r.Row(p + 1)[k+1:]
	clear(y)
	dense.Gemm(1, n-k-1, m-k, w.tau[k], v, 0, 1, w.a.Data[k*ld+k+1:], ld, 1, y, n)
	w.correct(y, w.tau[k], v, w.l, k, w.r, k+1, p)

	u := w.u.Row(k)[k+1:]
	copy(u, w.a.Row(k)[k+1:])
	subtract(u, w.l, k, p+1, w.r, k+1)
	w.e[k], w.sigma[k] = reflection(u, 0)
	copy(uk, u)
	x = x[k+1:]
	clear(x)
	dense.Gemm(m-k-1, 1, n-k-1, w.sigma[k], w.a.Data[(k+1)*ld+k+1:], ld, 1, u, 1, 1, x, 1)
	w.correct(x, w.sigma[k], u, w.r, k+1, w.l, k+1, p+1)
}

// subtract computes x -= Σ_i a_ik·b_i over the first p rows, where b_i is row i from element
// lo on.
func subtract(x []float64, a rev.General[float64], k, p int, b rev.General[float64], lo int) {
	if p > 0 {
		dense.Gemm(1, len(x), p, -1, a.Data[k:], 0, a.Stride, b.Data[lo:], b.Stride, 1, x, len(x))
	}
}

// correct computes x -= alpha·Σ_i (a_iᵀ·z)·b_i over the first p rows, from elements alo and
// blo on.
func (w *bidiagonal) correct(x []float64, alpha float64, z []float64, a rev.General[float64], alo int, b rev.General[float64], blo, p int) {
	if p == 0 {
		return
	}
	clear(w.dots)
	dense.Gemm(p, 1, len(z), alpha, a.Data[alo:], a.Stride, 1, z, 1, 1, w.dots, 1)
	dense.Gemm(1, len(x), p, -1, w.dots, 0, 1, b.Data[blo:], b.Stride, 1, x, len(x))
}

// formTransposed sets q to the first rows of Qᵀ or Pᵀ, the product of reflections, the last one
// first. Vector k begins at element k+shift.
func (w *bidiagonal) formTransposed(q, v rev.General[float64], tau []float64, shift int) {
	for i := range q.Rows {
		clear(q.Row(i))
		q.Row(i)[i] = 1
	}
	w.multiplyTransposed(q, v, tau, shift, true)
}

// multiplyTransposed sets q to q times the rows of formTransposed. If identity is set, q is the identity.
func (w *bidiagonal) multiplyTransposed(q, v rev.General[float64], tau []float64, shift int, identity bool) {
	n := q.Rows
	for hi := n - shift; hi > 0; {
		lo := (hi - 1) / formPanel * formPanel
		first := lo + shift
		row := 0
		if identity {
			row = first
		}
		w.form = scratch(w.form, hi-lo, q.Cols-first)
		for i := range hi - lo {
			copy(w.form.Row(i), v.Row(hi - 1 - i)[first:])
		}
		backward := w.dots[:0]
		for k := hi - 1; k >= lo; k-- {
			backward = append(backward, tau[k])
		}
		applyReflections(w.workers, w.form, backward, block(q, row, first, n-row, q.Cols-first), &w.t, &w.vq)
		hi = lo
	}
}
