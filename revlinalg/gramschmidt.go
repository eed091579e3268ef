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
// A column is made orthogonal to the earlier columns by subtracting its projections, all
// at once. This is done twice. The second pass removes what the rounding of the first has
// left. If A has full rank to working precision, Q is therefore orthonormal to a small
// multiple of m·n·ε (Giraud, Langou and Rozložník 2005). Columns are taken one after the
// other. Workers do not share this, and it is some ten times slower than QR for large
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

// gramSchmidt sets Q and R.
func (w *qrWork[T]) gramSchmidt(a rev.General[T]) {
	m, n := a.Rows, a.Cols
	w.q, w.r = scratch(w.q, m, n), zeros(w.r, n, n)
	w.qt, w.coeffs = scratch(w.qt, n, m), scratch(w.coeffs, 1, n)
	copyTransposed(w.qt, a)
	for j := range n {
		x := w.qt.Row(j)
		before := block(w.qt, 0, 0, j, m)
		c := w.coeffs.Row(0)[:j]
		for range 2 {
			clear(c)
			if j > 0 {
				dense.Gemm(j, 1, m, 1, before.Data, before.Stride, 1, x, 1, 1, c, 1)
				dense.Gemm(1, m, j, -1, c, 0, 1, before.Data, before.Stride, 1, x, m)
			}
			for i, v := range c {
				w.r.Row(i)[j] += v
			}
		}
		norm := vectorNorm(rev.ViewSlice(x))
		w.r.Row(j)[j] = norm
		divideRow(x, norm)
	}
	copyTransposed(w.q, w.qt)
}
