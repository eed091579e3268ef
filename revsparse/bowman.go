package revsparse

import (
	"github.com/james-bowman/sparse"
)

// ViewCSR returns the view of a matrix of github.com/james-bowman/sparse, sharing its
// storage. It does not check the contents. The entries stay in their order; no kernel needs
// them sorted. A method of m that adds entries, such as Set, ends the sharing.
//
// The other types of that package are stored in other ways. ViewCSC views a CSC as its
// transpose. FromMatrix copies a COO or a DOK into rows whose columns are sorted, so
// that a DOK, which is a map, gives the same matrix each time; the methods ToCSR of that
// package give the entries of a DOK in an order that differs from run to run.
func ViewCSR(m *sparse.CSR) CSR[float64, int] {
	raw := m.RawMatrix()
	return CSR[float64, int]{Rows: raw.I, Cols: raw.J, Ptr: raw.Indptr, Ind: raw.Ind, Data: raw.Data}
}

// ViewCSC returns the view of the transpose of m, sharing its storage: the columns of m
// are its rows. NewMulTrans multiplies by m itself then.
func ViewCSC(m *sparse.CSC) CSR[float64, int] {
	raw := m.RawMatrix()
	return CSR[float64, int]{Rows: raw.I, Cols: raw.J, Ptr: raw.Indptr, Ind: raw.Ind, Data: raw.Data}
}

// ToSparse returns a as a matrix of github.com/james-bowman/sparse, sharing its storage.
// No two entries of a may be in the same place: that package would use one of them.
func ToSparse(a CSR[float64, int]) *sparse.CSR {
	return sparse.NewCSR(a.Rows, a.Cols, a.Ptr, a.Ind, a.Data)
}
