package dense

import "revnum/internal/simd/cpu"

// The units of the rows and columns of Gemvt.
const (
	GemvtRows = 4
	GemvtCols = 8
)

// Gemvt computes, for the rows of an m×n matrix A in order,
//
//	x_i += A_i·u,  z_i -= x_i,  y += z_i·A_i.
//
// Row i begins at a[i*lda]. m is a multiple of GemvtRows, and n one of GemvtCols. Gemvt
// panics if a slice is too short. A and the vectors must lie apart.
//
// A is read once (GEMVT of Howell, Demmel, Fulton, Hammarling and Marmol 2008, by rows). The
// bits of y do not depend on how its rows are cut into calls.
func Gemvt(m, n int, a []float64, lda int, u, x, z, y []float64) {
	switch {
	case m%GemvtRows != 0 || n%GemvtCols != 0:
		panic("dense: bad rows or columns")
	case lda < n:
		panic("dense: bad leading dimension")
	case m <= 0 || n <= 0:
		return
	}
	_ = a[(m-1)*lda+n-1]
	_, _, _, _ = u[n-1], x[m-1], z[m-1], y[n-1]
	if tier == cpu.Generic {
		genericGemvt(m, n, a, lda, u, x, z, y)
		return
	}
	for lo := 0; lo < m; {
		rows := min(m-lo, max(GemvtRows, gemvtWork/n&^(GemvtRows-1)))
		vectorGemvt(rows/GemvtRows, n, &a[lo*lda], lda, &u[0], &x[lo], &z[lo], &y[0])
		lo += rows
	}
}

// gemvtWork is the number of elements of A that a call of assembly takes.
const gemvtWork = 1 << 17
