//go:build !amd64 || noasm

package simd

func sparseCols[T Float](n int) int { return min(n, sparseMost/2) }

func sparseRow[T Float, I Index](dst []T, alpha T, a []T, ind []I, u []T, ldu int) {
	genericSparseRow(dst, alpha, a, ind, u, ldu)
}

func sparseDots[T Float, I Index](ga []T, gamma T, v []T, ind []I, u []T, ldu int) {
	genericSparseDots(ga, gamma, v, ind, u, ldu)
}

func sparseRowDots[T Float, I Index](dst []T, alpha T, a, ga []T, gamma T, v []T, ind []I, u []T, ldu int) {
	genericSparseRow(dst, alpha, a, ind, u, ldu)
	genericSparseDots(ga, gamma, v, ind, u, ldu)
}
