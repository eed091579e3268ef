//go:build !amd64 || noasm

package pairs

import "revnum/internal/simd/cpu"

func distances[T cpu.Float](dst, x []T, ldx int, c []T) { genericDistances(dst, x, ldx, c) }

func invDistances[T cpu.Float](dst, x []T, ldx int, c []T) { genericInvDistances(dst, x, ldx, c) }

func diffDots[T cpu.Float](dst, x []T, ld int, c, y, e []T) { genericDiffDots(dst, x, ld, c, y, e) }

func addDiffs[T cpu.Float](n int, dst, x []T, ld int, c, w []T, ldw int, sums []T) {
	genericAddDiffs(n, dst, x, ld, c, w, ldw, sums)
}

func kindSums[T cpu.Float](x []T, kinds Kinds, origin [2]T) (sums, squares [2]T) {
	return genericKindSums(x, kinds, origin)
}

func kindAffine[T cpu.Float](dst, x []T, kinds Kinds, add, mul [2]T) {
	genericKindAffine(dst, x, kinds, add, mul)
}

func kindDistances[T cpu.Float](n int, x []T, ldx int, c []T, kinds Kinds, origin [2]T) (sums, squares [2]T) {
	return genericKindDistances(n, x, ldx, c, kinds, origin)
}

func kindInvDistances[T cpu.Float](dst, x []T, ldx int, c []T, kinds Kinds, add, mul [2]T) {
	genericKindInvDistances(dst, x, ldx, c, kinds, add, mul)
}
