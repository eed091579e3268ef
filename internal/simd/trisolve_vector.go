//go:build amd64 && !noasm

package simd

// triSolveVector is TriSolve for some rows. An upper triangle is a lower one with
// rows and columns in reverse, that is with negative strides.
func triSolveVector[T Float](first, rows, m, n int, t []T, rst, cst int, upper bool, r *[triSolveRows]T, x []T, ldx int) {
	i := fromStart(first, m, upper)
	at, start := i*rst, 0 // row of T, and of X where the first rows are
	if upper {
		at, start = i*rst+(m-1)*cst, (m-1)*ldx
		rst, cst, ldx = -rst, -cst, -ldx
	}
	var nb int
	for j := 0; j < n; j += nb {
		nb = panelCols(n-j, lanes[T]())
		tileTriSolve(first, rows, nb, &t[at], rst, cst, &r[0], &x[start+j], ldx)
	}
}

func tileTriSolve[T Float](i0, rows, n int, t *T, rst, cst int, r, x *T, ldx int) {
	switch {
	case is64[T]() && tier == AVX512:
		triSolveAVX512F64(i0, rows, n, f64(t), rst, cst, f64(r), f64(x), ldx)
	case is64[T]():
		triSolveAVX2F64(i0, rows, n, f64(t), rst, cst, f64(r), f64(x), ldx)
	case tier == AVX512:
		triSolveAVX512F32(i0, rows, n, f32(t), rst, cst, f32(r), f32(x), ldx)
	default:
		triSolveAVX2F32(i0, rows, n, f32(t), rst, cst, f32(r), f32(x), ldx)
	}
}
