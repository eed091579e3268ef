package revlinalg

import (
	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
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
//
// A large matrix comes from memory for each product with it, so there is one pass over it for
// each column. x of column k gives column k+1, row by row: z, as it is before its reflection. v is
// z with another first element and divided by it, and so y follows from Aᵀ·z and the first
// row, with v = (z - β·e)/(z_1 - β) and τ = (β - z_1)/β (Howell, Demmel, Fulton, Hammarling and
// Marmol 2008):
//
//	y = τ·Aᵀ·v = Aᵀ·e - Aᵀ·z/β.
type bidiagonal struct {
	workers    int
	a          rev.General[float64] // and zeros below and beside it, up to whole units of dense.Gemvt
	d, e       []float64            // the diagonal of B, and the elements to the right of it and one more
	v, u       rev.General[float64] // of each column and of each row
	tau, sigma []float64

	l, r rev.General[float64] // v and x, and y and u, of each column of the panel, and v and y of the next one
	dots []float64            // products of vectors of the panel with another one
	x, z []float64            // of a pass, from row at of A on, in l
	su   []float64            // σ·u, from the first column of A on
	az   rev.General[float64] // Aᵀ·z, likewise, by parts of the rows

	at, lo, rows int // the first row and column of a pass, and the number of rows

	form, t, vq rev.General[float64]
}

const (
	bidiagonalPanel = 16
	panelVectors    = 2*bidiagonalPanel + 1
	passParts       = 4       // parts of the rows of A in a pass
	passAlone       = 1 << 16 // up to so many elements there is one part
)

// begin makes the matrix undefined. The caller sets a.
func (w *bidiagonal) begin(workers, m, n int) {
	rows, cols := m+dense.GemvtRows-1, (n+dense.GemvtCols-1)&^(dense.GemvtCols-1)
	w.workers, w.a = workers, scratch(w.a, rows, cols)
	for i := 0; i < m && n < cols; i++ {
		clear(w.a.Row(i)[n:])
	}
	for i := m; i < rows; i++ {
		clear(w.a.Row(i))
	}
	w.a.Rows, w.a.Cols = m, n
	w.d, w.e = workspace.Grow(w.d, n), workspace.Grow(w.e, n)
	w.tau, w.sigma = workspace.Grow(w.tau, n), workspace.Grow(w.sigma, n)
	w.v, w.u = zeros(w.v, n, m), zeros(w.u, n, n)
	w.l, w.r = scratch(w.l, panelVectors, rows), scratch(w.r, panelVectors, n)
	w.dots, w.su = workspace.Grow(w.dots, panelVectors), workspace.Grow(w.su, cols)
	w.az = scratch(w.az, passParts, cols)
}

// reduce sets d and e. The largest element of A is between 2⁻¹⁰⁰ and 2³⁰⁰, and columns and
// rows below 2⁻⁴⁸⁰ count as 0.
func (w *bidiagonal) reduce() {
	m, n := w.a.Rows, w.a.Cols
	clear(w.su)
	clear(w.r.Row(0))
	w.column(0, 0, 0)
	w.keep(1)
	for lo := 0; lo < n; lo += bidiagonalPanel {
		hi := min(lo+bidiagonalPanel, n)
		for k := lo; k < min(hi, n-1); k++ {
			w.row(k, 2*(k-lo)+1)
		}
		if hi < n {
			p := 2 * (hi - lo)
			l, r := block(w.l, 0, hi, p, m-hi), block(w.r, 0, hi, p, n-hi)
			multiply(w.workers, block(w.a, hi, hi, m-hi, n-hi), -1, view(l, true), view(r, false))
			w.keep(p)
		}
	}
}

// keep makes vectors p of a panel the first ones of the next panel.
func (w *bidiagonal) keep(p int) {
	copy(rowFrom(&w.l, 0, 0), rowFrom(&w.l, p, 0))
	copy(rowFrom(&w.r, 0, 0), rowFrom(&w.r, p, 0))
}

// row reduces row k, after the first p vectors of the panel, and column k+1.
func (w *bidiagonal) row(k, p int) {
	u := rowFrom(&w.u, k, k+1)
	copy(u, rowFrom(&w.a, k, k+1))
	subtract(u, &w.l, k, p, &w.r, k+1)
	w.e[k], w.sigma[k] = reflection(u, 0)
	copy(rowFrom(&w.r, p, k+1), u)
	w.su[k] = 0
	vec.ScaleTo(w.su[k+1:w.a.Cols], w.sigma[k], u)
	w.column(k+1, p, w.sigma[k])
}

// column reduces column k, after the first p vectors of the panel and u of the row before,
// with σ. It sets x, v and y.
func (w *bidiagonal) column(k, p int, sigma float64) {
	m, n, ld := w.a.Rows, w.a.Cols, w.a.Stride
	rows := (m - k + dense.GemvtRows - 1) &^ (dense.GemvtRows - 1)
	w.x, w.z = rowFrom(&w.l, p, k)[:rows], rowFrom(&w.l, p+1, k)[:rows]
	v := w.z[:m-k]
	clear(w.x)
	clear(w.z[m-k:])
	for i := range v {
		v[i] = w.a.Data[(k+i)*ld+k]
	}
	if p > 0 {
		r, ldr := w.r.Data[k-1:], w.r.Stride
		for i := range p {
			r[i*ldr] = 0 // column k-1 has served, and takes the products
		}
		dense.Gemm(p, 1, n-k, sigma, r[1:], ldr, 1, r[p*ldr+1:], 1, 1, r, ldr)
		// x loses the products, and v, the row after it, what column k of r has.
		dense.Gemm(2, m-k, p, -1, r, 1, ldr, w.l.Data[k:], w.l.Stride, 1, w.l.Data[p*w.l.Stride+k:], w.l.Stride)
	}
	w.pass(k, rows)
	w.d[k], w.tau[k] = reflection(v, 0)
	copy(rowFrom(&w.v, k, k), v)
	if k+1 == n {
		return
	}
	if y := rowFrom(&w.r, p+1, k+1); w.tau[k] == 0 {
		clear(y)
	} else {
		inverse, row, az := 1/w.d[k], rowFrom(&w.a, k, k+1)[:len(y)], rowFrom(&w.az, 0, k+1)[:len(y)]
		for j := range y {
			y[j] = row[j] - float64(inverse*az[j])
		}
		w.correct(y, w.tau[k], v, &w.l, k, &w.r, k+1, p+1)
	}
}

// pass makes a pass over so many rows of A, from row and column k on.
func (w *bidiagonal) pass(k, rows int) {
	w.at, w.lo, w.rows = k, k&^(dense.GemvtCols-1), rows
	az := rowFrom(&w.az, 0, w.lo)
	if rows*len(az) <= passAlone {
		w.passRows(0, rows, az)
		return
	}
	parallel.Run(parallel.Workers(w.workers), passParts, w)
	for part := 1; part < passParts; part++ {
		vec.AddTo(az, az, rowFrom(&w.az, part, w.lo))
	}
}

// Block passes over part b of the rows.
func (w *bidiagonal) Block(_, b int) {
	from := func(b int) int { return w.rows * b / passParts &^ (dense.GemvtRows - 1) }
	w.passRows(from(b), from(b+1), rowFrom(&w.az, b, w.lo))
}

// passRows passes over rows lo to hi-1 after the first one.
func (w *bidiagonal) passRows(lo, hi int, az []float64) {
	clear(az)
	a := w.a.Data[(w.at+lo)*w.a.Stride+w.lo:]
	dense.Gemvt(hi-lo, len(az), a, w.a.Stride, w.su[w.lo:], w.x[lo:hi], w.z[lo:hi], az)
}

// subtract computes x -= Σ_i a_ik·b_i over the first p rows, where b_i is row i from element
// lo on.
func subtract(x []float64, a *rev.General[float64], k, p int, b *rev.General[float64], lo int) {
	if p > 0 {
		dense.Gemm(1, len(x), p, -1, a.Data[k:], 0, a.Stride, b.Data[lo:], b.Stride, 1, x, len(x))
	}
}

// correct computes x -= alpha·Σ_i (a_iᵀ·z)·b_i over the first p rows, from elements alo and
// blo on.
func (w *bidiagonal) correct(x []float64, alpha float64, z []float64, a *rev.General[float64], alo int, b *rev.General[float64], blo, p int) {
	if p == 0 {
		return
	}
	clear(w.dots[:p])
	dense.Gemm(p, 1, len(z), alpha, a.Data[alo:], a.Stride, 1, z, 1, 1, w.dots, 1)
	dense.Gemm(1, len(x), p, -1, w.dots, 0, 1, b.Data[blo:], b.Stride, 1, x, len(x))
}

// rowFrom returns row i of m from element lo on. The pointer saves the copy of m that Row makes.
func rowFrom(m *rev.General[float64], i, lo int) []float64 {
	return m.Data[i*m.Stride+lo : i*m.Stride+m.Cols]
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
