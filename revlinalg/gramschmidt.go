package revlinalg

import (
	"revnum/internal/simd/dense"
	"revnum/rev"
)

// GramSchmidt is the kernel
//
//	Q += Q(A),  R += R(A),  Q(A)·R(A) = A.
//
// The results are those of QR except for signs: the diagonal of R is positive. The
// derivatives are the same expressions in Q and R.
//
// A column is made orthogonal to the earlier columns by subtracting its projections. This is
// done twice. The second pass removes what the rounding of the first has
// left. If A has full rank to working precision, Q is therefore orthonormal to a small
// multiple of m·n·ε (Giraud, Langou and Rozložník 2005). In the first pass the projections of 32
// columns onto all before these are a product of matrices. Otherwise columns are taken one after the
// other. Workers do not share this, and it is slower than QR for large
// matrices. Workers share the derivatives.
//
// If A does not have full rank, all methods return a *rev.SingularError with the κ of QR,
// and write nothing. A pivot smaller than m·ε times its column consists of rounding errors.
// The condition is then the one found up to that column. There is no such kernel over fixed
// point, for the reason given with QR.
//
// The classical process is that of Liu and Zhao, arXiv 2003.04617. Source of the second
// pass: Giraud et al., Rounding error analysis of the classical
// Gram-Schmidt orthogonalization process, Numer. Math. 101 (2005).
type GramSchmidt[T rev.Float] struct {
	Q       rev.General[T] `rev:"acc" shape:"m,n"`
	R       rev.General[T] `rev:"acc" shape:"n,n"`
	A       rev.General[T] `rev:"in" shape:"m,n"`
	Workers int            // 0 means GOMAXPROCS
}

// gramSchmidtRun is Run of GramSchmidt. It panics with mat.ErrShape if A has more columns than
// rows.
func gramSchmidtRun[T rev.Float](k *GramSchmidt[T], p *rev.Pass[GramSchmidt[T]]) error {
	checkTall[GramSchmidt[T]](k.A)
	qr := QR[T](*k)
	return qrRunBy(&qr, rev.Pass[QR[T]]{
		Back: p.Back, Adjoint: p.Adjoint, Tangent: p.Tangent, G: QR[T](p.G), T: QR[T](p.T), GT: QR[T](p.GT),
	}, (*qrWork[T]).gramSchmidt)
}

// projected is how many columns of A are projected at once.
const projected = 32

// gramSchmidt sets Q and R.
func (w *qrWork[T]) gramSchmidt(a rev.General[T]) {
	m, n := a.Rows, a.Cols
	w.q, w.r = scratch(w.q, m, n), zeros(w.r, n, n)
	w.qt, w.coeffs = scratch(w.qt, n, m), scratch(w.coeffs, projected, n)
	copyTransposed(w.qt, a)
	for first := 0; first < n; first += projected {
		last := min(first+projected, n)
		w.project(first, last, 0, first)
		for j := first; j < last; j++ {
			w.project(j, j+1, first, j)
			w.project(j, j+1, 0, j)
			x := w.qt.Row(j)
			norm := vectorNorm(rev.ViewSlice(x))
			w.r.Row(j)[j] = norm
			divideRow(x, norm)
		}
	}
	copyTransposed(w.q, w.qt)
}

// project subtracts from columns j0 to j1-1 of A their projections onto columns q0 to q1-1 of Q, and adds
// the coefficients to R.
func (w *qrWork[T]) project(j0, j1, q0, q1 int) {
	if q0 == q1 {
		return
	}
	m := w.qt.Cols
	x, q, c := block(w.qt, j0, 0, j1-j0, m), block(w.qt, q0, 0, q1-q0, m), block(w.coeffs, 0, 0, j1-j0, q1-q0)
	for i := range c.Rows {
		clear(c.Row(i))
	}
	dense.Gemm(c.Rows, c.Cols, m, 1, x.Data, x.Stride, 1, q.Data, 1, q.Stride, c.Data, c.Stride)
	gemm(-1, view(c, false), q, x)
	for i := range c.Rows {
		for k, v := range c.Row(i) {
			w.r.Row(q0 + k)[j0+i] += v
		}
	}
}
