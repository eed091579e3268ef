//go:build !amd64 || noasm

package simd

func distances[T Float](dst, x []T, ldx int, c []T) { genericDistances(dst, x, ldx, c) }

func invDistances[T Float](dst, x []T, ldx int, c []T) { genericInvDistances(dst, x, ldx, c) }

func diffDots[T Float](dst, x []T, ld int, c, y, e []T) { genericDiffDots(dst, x, ld, c, y, e) }

func addDiffs[T Float](n int, dst, x []T, ld int, c, w []T, ldw int, sums []T) {
	genericAddDiffs(n, dst, x, ld, c, w, ldw, sums)
}

func kindSums[T Float](x []T, kinds Kinds, origin [2]T) (sums, squares [2]T) {
	return genericKindSums(x, kinds, origin)
}

func kindAffine[T Float](dst, x []T, kinds Kinds, add, mul [2]T) {
	genericKindAffine(dst, x, kinds, add, mul)
}

func kindDistances[T Float](n int, x []T, ldx int, c []T, kinds Kinds, origin [2]T) (sums, squares [2]T) {
	return genericKindDistances(n, x, ldx, c, kinds, origin)
}

func kindInvDistances[T Float](dst, x []T, ldx int, c []T, kinds Kinds, add, mul [2]T) {
	genericKindInvDistances(dst, x, ldx, c, kinds, add, mul)
}
