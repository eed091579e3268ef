package objective

import (
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// View returns a view of x, or of a copy if x has no storage that can be shared.
func View(x mat.Matrix) rev.General[float64] {
	switch x := x.(type) {
	case *mat.Dense:
		return rev.ViewDense(x)
	case mat.RawMatrixer:
		return rev.General[float64](x.RawMatrix())
	case *mat.VecDense:
		v := x.RawVector()
		return rev.General[float64]{Rows: v.N, Cols: 1, Data: v.Data, Stride: max(v.Inc, 1)}
	}
	return rev.ViewDense(mat.DenseCopyOf(x))
}
