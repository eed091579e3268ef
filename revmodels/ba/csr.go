package ba

import (
	"revnum/rev"
	"revnum/revmodels/ba/internal/views"
	"revnum/revsparse"
)

// CSR returns the Jacobian of R by the cameras and then the points, 2p×(9n+3m), as
// a sparse matrix with the structure of k and zeros for values. Jacobian stores
// the values through j, which is a view of them: it may be called again and
// again. Columns ascend in each row. It panics with mat.ErrRowAccess if an index is
// out of range.
func (k Snavely[T]) CSR() (a revsparse.CSR[T, int], j rev.General[T]) {
	rev.ForwardPass(&k)
	p := k.problem()
	a, j, _ = p.csr()
	return a, j
}

// CSR returns the Jacobian of R and then Z by the cameras, the points and the
// weights, 3p×(11n+3m+p), as a sparse matrix with the structure of k and zeros for
// values. Jacobian stores the values through j and z, which are views of them: it
// may be called again and again. Columns ascend in each row. It panics with
// mat.ErrRowAccess if an index is out of range.
func (k Weighted[T]) CSR() (a revsparse.CSR[T, int], j rev.General[T], z rev.Vector[T]) {
	rev.ForwardPass(&k)
	p := k.problem()
	return p.csr()
}

// csr returns the structure of the Jacobian, with views of the values of the first
// rows and of the last ones.
func (p *problem[T]) csr() (a revsparse.CSR[T, int], j rev.General[T], dz rev.Vector[T]) {
	n, cols, cam := len(p.camera), p.model.Columns(), params(p.model)
	pointCol := cam * p.cameras.Rows
	weightCol := pointCol + 3*p.points.Rows
	rows, width, nnz := 2*n, weightCol, 2*n*cols
	if p.model == views.Weighted {
		rows, width, nnz = 3*n, weightCol+n, nnz+n
	}
	a = revsparse.CSR[T, int]{
		Rows: rows, Cols: width, Ptr: make([]int, 1, rows+1), Ind: make([]int, 0, nnz), Data: make([]T, nnz),
	}
	for i, c := range p.camera {
		p.checkIndex(i)
		for range 2 {
			for k := range cam {
				a.Ind = append(a.Ind, cam*c+k)
			}
			for k := range 3 {
				a.Ind = append(a.Ind, pointCol+3*p.point[i]+k)
			}
			if p.model == views.Weighted {
				a.Ind = append(a.Ind, weightCol+i)
			}
			a.Ptr = append(a.Ptr, len(a.Ind))
		}
	}
	for i := range rows - 2*n {
		a.Ind = append(a.Ind, weightCol+i)
		a.Ptr = append(a.Ptr, len(a.Ind))
	}
	first := 2 * n * cols
	return a, rev.NewGeneral(2*n, cols, a.Data[:first:first]), rev.ViewSlice(a.Data[first:])
}
