package fixedpoint

import (
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/internal/simd/cpu"
)

// TestPairs compares AddTo, Split and AddPairs with plain loops, also where sums wrap.
func TestPairs(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		from := func(rnd *rand.Rand) fixed.Q43 { return fixed.Q43(rnd.Uint64()) >> rnd.IntN(64) }
		rnd := rand.New(rand.NewPCG(2, 9))
		for _, n := range []int{0, 1, 7, 8, 9, 16, 31, 64, 77, cpu.Chunk + 8, 2*cpu.Chunk + 3} {
			for _, sign := range []int{1, -1} {
				x, y, z := draw(rnd, n, from), draw(rnd, n, from), draw(rnd, 2*n, from)
				sums, pairs, want, wantPairs := make([]fixed.Q43, n), slices.Clone(z), make([]fixed.Q43, n), slices.Clone(z)
				for i := range n {
					want[i] = x[i] + fixed.Q43(sign)*y[i]
					wantPairs[2*i] += fixed.Q43(sign) * x[i]
					wantPairs[2*i+1] += fixed.Q43(sign) * y[i]
				}
				AddTo(sign, x, y, sums)
				AddPairs(sign, x, y, pairs)
				if !slices.Equal(sums, want) || !slices.Equal(pairs, wantPairs) {
					t.Fatalf("sums of %d numbers, sign %d: %d and %d, want %d and %d", n, sign, sums, pairs, want, wantPairs)
				}
				Split(z, x, y)
				for i := range n {
					if x[i] != z[2*i] || y[i] != z[2*i+1] {
						t.Fatalf("pair %d of %d is split into %d and %d, want %d", i, n, x[i], y[i], z[2*i:2*i+2])
					}
				}
			}
		}
	})
}
