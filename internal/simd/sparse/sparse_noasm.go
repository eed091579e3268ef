//go:build !amd64 || noasm

package sparse

import "revnum/internal/simd/cpu"

func sparseCols[T cpu.Float](n int) int { return min(n, sparseMost/2) }

func sparseRows[T cpu.Float, I Index](n int, end []I, base int, ind []I, u []T, ldu int, a, dst []T, ldd int, alpha T) {
	genericSparseRows(n, end, base, ind, u, ldu, a, dst, ldd, alpha)
}

func sparseDots[T cpu.Float, I Index](n int, end []I, base int, ind []I, u []T, ldu int, ga, v []T, ldv int, gamma T) {
	genericSparseDots(n, end, base, ind, u, ldu, ga, v, ldv, gamma)
}

func sparseRowsDots[T cpu.Float, I Index](n int, end []I, base int, ind []I, u []T, ldu int, a, dst []T, ldd int, alpha T, ga, v []T, ldv int, gamma T) {
	genericSparseRows(n, end, base, ind, u, ldu, a, dst, ldd, alpha)
	genericSparseDots(n, end, base, ind, u, ldu, ga, v, ldv, gamma)
}

func sparseSpread[T cpu.Float, I Index](n int, end []I, base int, ind []I, a []T, v []T, ldv int, beta T, w []T, ldw int) {
	genericSparseSpread(n, end, base, ind, a, v, ldv, beta, w, ldw)
}

func sparseRowsSpread[T cpu.Float, I Index](n int, end []I, base int, ind []I, u []T, ldu int, a, dst []T, ldd int, alpha T, v []T, ldv int, beta T, w []T, ldw int) {
	genericSparseRows(n, end, base, ind, u, ldu, a, dst, ldd, alpha)
	genericSparseSpread(n, end, base, ind, a, v, ldv, beta, w, ldw)
}

func sparseRowsDotsSpread[T cpu.Float, I Index](n int, end []I, base int, ind []I, u []T, ldu int, a, dst []T, ldd int, alpha T, ga []T, gamma T, v []T, ldv int, beta T, w []T, ldw int) {
	genericSparseRows(n, end, base, ind, u, ldu, a, dst, ldd, alpha)
	genericSparseDots(n, end, base, ind, u, ldu, ga, v, ldv, gamma)
	genericSparseSpread(n, end, base, ind, a, v, ldv, beta, w, ldw)
}

func sparseGather[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u []T) {
	genericSparseGather(end, base, a, ind, out, alpha, u)
}

func sparseScatter[T cpu.Float, I Index](end []I, base int, a []T, ind []I, v []T, beta T, w []T) {
	genericSparseScatter(end, base, a, ind, v, beta, w)
}

func sparseGatherScatter[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u, v []T, beta T, w []T) {
	genericSparseGather(end, base, a, ind, out, alpha, u)
	genericSparseScatter(end, base, a, ind, v, beta, w)
}

func sparseGatherGrad[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u, v, ga []T, gamma T) {
	genericSparseGather(end, base, a, ind, out, alpha, u)
	genericSparseGrad(end, base, ind, u, v, ga, gamma)
}

func sparseGatherScatterGrad[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u, v []T, beta T, w []T, ga []T, gamma T) {
	genericSparseGather(end, base, a, ind, out, alpha, u)
	genericSparseScatter(end, base, a, ind, v, beta, w)
	genericSparseGrad(end, base, ind, u, v, ga, gamma)
}

func sparsePairs[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, uw, v []T, beta T) bool {
	return genericSparsePairs(end, base, a, ind, out, alpha, uw, v, beta, nil, 0)
}

func sparsePairsGrad[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, uw, v []T, beta T, ga []T, gamma T) bool {
	return genericSparsePairs(end, base, a, ind, out, alpha, uw, v, beta, ga, gamma)
}

func indexRange[I Index](ind []I) (lo, hi I) { return genericIndexRange(ind) }

func prefetchRow[T cpu.Float](x []T) {}

func spreadMost[T cpu.Float]() int { return sparseMost / 2 }
