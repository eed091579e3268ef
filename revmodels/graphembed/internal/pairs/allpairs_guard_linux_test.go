package pairs

import (
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// The loops over all pairs neither read nor write past the ends of their
// operands, which lie against pages that fault.
func TestAllPairsGuardPages(t *testing.T) {
	withAllPairs(t, func() {
		testAllPairsGuardPages[float64](t)
		testAllPairsGuardPages[float32](t)
	})
}

func testAllPairsGuardPages[T cpu.Float](t *testing.T) {
	x, c, dst, own, near := simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[byte](t)
	for dim := 1; dim <= mostDim; dim++ {
		for n := 1; n <= 35; n++ {
			for _, from := range []int{-20, -1, 3, 16} {
				const rows = 4
				cut := func(s []T, size int, atEnd bool) []T {
					if atEnd {
						return s[len(s)-size:]
					}
					return s[:size:size]
				}
				for _, atEnd := range []bool{false, true} {
					bytes := rows * ((n + 15) / 16 * 2)
					bits := near[:bytes:bytes]
					if atEnd {
						bits = near[len(near)-bytes:]
					}
					a := AllPairs[T]{
						Dim: dim, N: n, From: from, X: cut(x, dim*n, atEnd), Ld: n,
						C: cut(c, rows*dim, atEnd), Near: bits, LdNear: bytes / rows,
					}
					a.Moments([2]T{})
					a.AddForces([2]T{}, [2]T{}, cut(dst, dim*n, atEnd), cut(own, rows*dim, atEnd))
				}
			}
		}
	}
}
