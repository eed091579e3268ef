package dense

import "revnum/internal/simd/cpu"

// SymvOrder is the unit of the rows of Symv.
const SymvOrder = 8

// Symv adds rows lo to hi-1 of the lower triangle of a symmetric matrix A, and their mirror
// image, times x to y:
//
//	y_i += Σ_{j<=i} A_ij·x_j,  y_j += A_ij·x_i for j < i.
//
// Row i of A begins at a[i*lda]. lo and hi are multiples of SymvOrder, and y and x have hi
// elements at least. The blocks of order SymvOrder on the diagonal must be there as a whole.
// Nothing else above the diagonal is read. Symv panics if a slice is too short.
//
// A is read once. The result depends on lo and hi, but not on how A is aligned.
func Symv(lo, hi int, a []float64, lda int, x, y []float64) {
	switch {
	case lo < 0 || lo%SymvOrder != 0 || hi%SymvOrder != 0:
		panic("dense: bad rows")
	case lda < hi:
		panic("dense: bad leading dimension")
	case hi <= lo:
		return
	}
	_ = a[(hi-1)*lda+hi-1]
	_, _ = x[hi-1], y[hi-1]
	if tier == cpu.Generic {
		genericSymv(lo, hi, a, lda, x, y)
		return
	}
	lanes := cpu.Lanes[float64](tier)
	for lo < hi {
		rows := min(hi-lo, max(SymvOrder, symvWork/hi&^(SymvOrder-1)))
		vectorSymv(lo, rows/lanes, &a[lo*lda], lda, &x[0], &y[0])
		lo += rows
	}
}

// symvWork is the number of elements of A that a call of assembly takes.
const symvWork = 1 << 17
