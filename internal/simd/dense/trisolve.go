package dense

import (
	"math"

	"revnum/internal/simd/cpu"
)

// triSolveRows is the number of rows of X that are solved for at a time.
const triSolveRows = 64

// TriSolve computes X <- T⁻¹·X. T is m×m and lower triangular, or upper triangular
// if upper is set, with T[i,j] = t[i*rst+j*cst]. X is m×n with X[i,j] = x[i*ldx+j].
// Elements on the other side of the diagonal are not read. If unit is set, the
// diagonal is 1 and is not read either. Strides must not be negative. TriSolve
// panics if a slice is too short.
//
// A column of the result depends on T and that column alone. To divide by a diagonal
// element, TriSolve multiplies by its reciprocal, if the reciprocals of all rows solved
// together are normal numbers.
func TriSolve[T cpu.Float](m, n int, t []T, rst, cst int, upper, unit bool, x []T, ldx int) {
	if m <= 0 || n <= 0 {
		return
	}
	if rst < 0 || cst < 0 || ldx < 0 {
		panic("dense: negative stride")
	}
	_ = t[(m-1)*(rst+cst)]
	if upper {
		_ = t[(m-1)*cst]
	} else {
		_ = t[(m-1)*rst]
	}
	_ = x[(m-1)*ldx+n-1]
	var r [triSolveRows]T // reciprocals of the diagonal
	for first := 0; first < m; first += triSolveRows {
		rows := min(triSolveRows, m-first)
		normal := true
		for k := range rows {
			r[k] = 1
			if !unit {
				i := fromStart(first+k, m, upper)
				r[k] = 1 / t[i*(rst+cst)]
				normal = normal && isNormal(r[k])
			}
		}
		if normal && tier != cpu.Generic {
			triSolveRowsOf(first, rows, m, n, t, rst, cst, upper, &r[0], x, ldx)
			continue
		}
		tri := triangle[T]{m, t, rst, cst, upper, unit, nil}
		if normal {
			tri.reciprocals = r[:rows]
		}
		tri.genericSolve(first, rows, n, x, ldx)
	}
}

// triSolveRowsOf is TriSolve for some rows. The rows before them must be solved. An upper
// triangle is a lower one with rows and columns in reverse order, that is with negative
// strides.
func triSolveRowsOf[T cpu.Float](first, rows, m, n int, t []T, rst, cst int, upper bool, r *T, x []T, ldx int) {
	at, start := fromStart(first, m, upper)*rst, 0 // row of T, and first row of X
	if upper {
		at, start = at+(m-1)*cst, (m-1)*ldx
		rst, cst, ldx = -rst, -cst, -ldx
	}
	var nb int
	for j := 0; j < n; j += nb {
		nb = panelCols(n-j, cpu.Lanes[T](tier))
		vectorTriSolve(first, rows, nb, &t[at], rst, cst, r, &x[start+j], ldx)
	}
}

// fromStart returns the index of the k-th of m rows in the order of solving.
func fromStart(k, m int, upper bool) int {
	if upper {
		return m - 1 - k
	}
	return k
}

// isNormal reports whether x is neither zero, subnormal, infinite nor NaN.
func isNormal[T cpu.Float](x T) bool {
	a := math.Abs(float64(x))
	if cpu.Is64[T]() {
		return a >= 0x1p-1022 && a <= math.MaxFloat64
	}
	return a >= 0x1p-126 && a <= math.MaxFloat32
}
