package fixedpoint

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/internal/simd/cpu"
)

// TestExactSum compares ExactSum with big.Int, and Max with slices.Max.
func TestExactSum(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(6, 2))
		extremes := []fixed.Q43{fixed.Min, fixed.Max, fixed.Min + 1, -1, 0, 1, 1 << 62, -1 << 62}
		for _, from := range []func(*rand.Rand) fixed.Q43{
			func(rnd *rand.Rand) fixed.Q43 { return fixed.Q43(rnd.Uint64()) >> rnd.IntN(64) },
			func(rnd *rand.Rand) fixed.Q43 { return extremes[rnd.IntN(len(extremes))] },
			func(*rand.Rand) fixed.Q43 { return fixed.Max },
			func(*rand.Rand) fixed.Q43 { return fixed.Min + 1 },
		} {
			for _, n := range []int{0, 1, 2, 7, 8, 9, 16, 17, 100, cpu.Chunk + 3, 2*cpu.Chunk + 1} {
				x := draw(rnd, n, from)
				want, most := new(big.Int), fixed.Min
				for _, v := range x {
					want.Add(want, big.NewInt(int64(v)))
					most = max(most, v)
				}
				hi, lo, hasLeast := ExactSum(x)
				got := new(big.Int).Lsh(big.NewInt(int64(hi)), 64)
				got.Add(got, new(big.Int).SetUint64(lo))
				if got.Cmp(want) != 0 || hasLeast != slices.Contains(x, fixed.Min) {
					t.Fatalf("n=%d: the sum is %v, want %v; the least number is there: %v", n, got, want, hasLeast)
				}
				if got := Max(x); got != most {
					t.Fatalf("n=%d: the largest is %d, want %d", n, got, most)
				}
			}
		}
	})
}
