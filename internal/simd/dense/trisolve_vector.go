//go:build amd64 && !noasm

package dense

import "revnum/internal/simd/cpu"

// triSolveVector is TriSolve for some rows. It treats an upper triangle as a lower
// one with rows and columns in reverse, that is with negative strides.
func triSolveVector[T cpu.Float](first, rows, m, n int, t []T, rst, cst int, upper bool, r *[triSolveRows]T, x []T, ldx int) {
	i := fromStart(first, m, upper)
	at, start := i*rst, 0 // row of T, and of X where the first rows are
	if upper {
		at, start = i*rst+(m-1)*cst, (m-1)*ldx
		rst, cst, ldx = -rst, -cst, -ldx
	}
	var nb int
	for j := 0; j < n; j += nb {
		nb = panelCols(n-j, cpu.Lanes[T](tier))
		tileTriSolve(first, rows, nb, &t[at], rst, cst, &r[0], &x[start+j], ldx)
	}
}

func tileTriSolve[T cpu.Float](i0, rows, n int, t *T, rst, cst int, r, x *T, ldx int) {
	switch {
	case cpu.Is64[T]() && tier == cpu.AVX512:
		triSolveAVX512F64(i0, rows, n, cpu.F64(t), rst, cst, cpu.F64(r), cpu.F64(x), ldx)
	case cpu.Is64[T]():
		triSolveAVX2F64(i0, rows, n, cpu.F64(t), rst, cst, cpu.F64(r), cpu.F64(x), ldx)
	case tier == cpu.AVX512:
		triSolveAVX512F32(i0, rows, n, cpu.F32(t), rst, cst, cpu.F32(r), cpu.F32(x), ldx)
	default:
		triSolveAVX2F32(i0, rows, n, cpu.F32(t), rst, cst, cpu.F32(r), cpu.F32(x), ldx)
	}
}
