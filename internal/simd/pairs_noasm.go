//go:build !amd64 || noasm

package simd

func invTo[T Float](dst, x []T) { genericInvTo(dst, x) }

func distances[T Float](dst, x []T, ldx int, c []T) { genericDistances(dst, x, ldx, c) }

func diffDots[T Float](dst, x []T, ld int, c, y, e []T) { genericDiffDots(dst, x, ld, c, y, e) }

func addDiffs[T Float](dst, x []T, ld int, c, w, sums []T) {
	genericAddDiffs(dst, x, ld, c, w, sums)
}
