package revlinalg

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"

	"revnum/internal/workspace"
	"revnum/rev"
)

// singularValues is the scratch of a singular value decomposition, which gonum computes
// in float64.
type singularValues struct {
	a, u, vt, s, work []float64
	size              [1]float64
}

// decomposeSVD computes A = U·Σ·Vᵀ with min(m, n) descending singular values w.s. It
// reports whether A is finite, and whether the iteration converges.
func decomposeSVD[T rev.Float](w *singularValues, a, u, vt rev.General[T]) (finite, ok bool) {
	m, n := a.Rows, a.Cols
	r := min(m, n)
	w.s = workspace.Grow(w.s, r)
	if r == 0 {
		return true, true
	}
	w.a, w.u, w.vt = workspace.Grow(w.a, m*n), workspace.Grow(w.u, m*r), workspace.Grow(w.vt, r*n)
	for i := range m {
		for j, v := range a.Row(i) {
			if !isFinite(float64(v)) {
				return false, false
			}
			w.a[i*n+j] = float64(v)
		}
	}
	ga := blas64.General{Rows: m, Cols: n, Data: w.a, Stride: n}
	gu := blas64.General{Rows: m, Cols: r, Data: w.u, Stride: r}
	gvt := blas64.General{Rows: r, Cols: n, Data: w.vt, Stride: n}
	lapack64.Gesvd(lapack.SVDStore, lapack.SVDStore, ga, gu, gvt, w.s, w.size[:], -1)
	w.work = workspace.Grow(w.work, int(w.size[0]))
	if !lapack64.Gesvd(lapack.SVDStore, lapack.SVDStore, ga, gu, gvt, w.s, w.work, len(w.work)) {
		return true, false
	}
	for i := range m {
		for j := range r {
			u.Row(i)[j] = T(w.u[i*r+j])
		}
	}
	for i := range r {
		for j := range n {
			vt.Row(i)[j] = T(w.vt[i*n+j])
		}
	}
	return true, true
}
