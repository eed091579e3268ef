//go:build !race && !mutants

package dense

import (
	"testing"

	"revnum/internal/simd/simdtest"
)

// With the race detector, sync.Pool drops objects at random. Allocations are therefore not
// tested there.

func TestGemmNoAllocation(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		const n = 30
		var a, b, c [n * n]float64 // on the stack, if it is true that nothing escapes
		allocs := testing.AllocsPerRun(100, func() {
			Gemm(n, n, n, 1, a[:], n, 1, b[:], n, 1, c[:], n)
			Gemm(n, n, n, 1, a[:], n, 1, b[:], 1, n, c[:], n)
			Gemm(n, n, n, 1, a[:], 1, n, b[:], 1, n, c[:], n)
			TriNorms(n, n, c[:n], a[:], n, b[:], n, a[:n])
			WeightedMoments(n, n, b[:n], c[:], n, b[:n], a[:], n)
		})
		if allocs != 0 {
			t.Errorf("%v allocations", allocs)
		}
	})
}
