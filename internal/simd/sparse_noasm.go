//go:build !amd64 || noasm

package simd

func sparseCols[T Float](n int) int { return min(n, sparseMost/2) }

func sparseRow[T Float, I Index](dst []T, alpha T, a []T, ind []I, u []T, ldu int) {
	genericSparseRow(dst, alpha, a, ind, u, ldu)
}

func sparseDots[T Float, I Index](ga []T, gamma T, v []T, _ int, ind []I, u []T, ldu int) {
	genericSparseDots(ga, gamma, v, ind, u, ldu)
}

func sparseRowDots[T Float, I Index](dst []T, alpha T, a, ga []T, gamma T, v []T, _ int, ind []I, u []T, ldu int) {
	genericSparseRow(dst, alpha, a, ind, u, ldu)
	genericSparseDots(ga, gamma, v, ind, u, ldu)
}

func sparseGather[T Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u []T) {
	genericSparseGather(end, base, a, ind, out, alpha, u)
}

func sparseScatter[T Float, I Index](end []I, base int, a []T, ind []I, v []T, beta T, w []T, lo int) {
	genericSparseScatter(end, base, a, ind, v, beta, w, lo)
}

func sparseGatherScatter[T Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u, v []T, beta T, w []T, lo int) {
	genericSparseGather(end, base, a, ind, out, alpha, u)
	genericSparseScatter(end, base, a, ind, v, beta, w, lo)
}

func sparseGatherGrad[T Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u, v, ga []T, gamma T) {
	genericSparseGather(end, base, a, ind, out, alpha, u)
	genericSparseGrad(end, base, ind, u, v, ga, gamma)
}

func sparseGatherScatterGrad[T Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u, v []T, beta T, w []T, lo int, ga []T, gamma T) {
	genericSparseGather(end, base, a, ind, out, alpha, u)
	genericSparseScatter(end, base, a, ind, v, beta, w, lo)
	genericSparseGrad(end, base, ind, u, v, ga, gamma)
}

func indexRange[I Index](ind []I) (lo, hi I) { return genericIndexRange(ind) }
