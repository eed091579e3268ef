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
			func(rnd *rand.Rand) fixed.Q43 { return fixed.Q43(rnd.Int64N(9)-4) << (21 * rnd.IntN(3)) }, // ties
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
				a, sum := draw(rnd, n, from), new(big.Int)
				for i, v := range x {
					sum.Add(sum, roundedProduct(a[i], v))
				}
				hi, lo, hasLeast = ExactSumPowers(a, x)
				got.Lsh(big.NewInt(int64(hi)), 64)
				got.Add(got, new(big.Int).SetUint64(lo))
				if got.Cmp(sum) != 0 || hasLeast != slices.Contains(x, fixed.Min) {
					t.Fatalf("n=%d: the sum of powers is %v, want %v; the least number is there: %v", n, got, sum, hasLeast)
				}
				if got := Max(x); got != most {
					t.Fatalf("n=%d: the largest is %d, want %d", n, got, most)
				}
			}
		}
	})
}

// roundedProduct returns x·y, rounded to nearest with ties to even.
func roundedProduct(x, y fixed.Q43) *big.Int {
	product := new(big.Int).Mul(big.NewInt(int64(x)), big.NewInt(int64(y)))
	twice, rest := new(big.Int).DivMod(product, big.NewInt(1<<(fixed.FracBits-1)), new(big.Int)) // a half more is odd
	whole := new(big.Int).Rsh(twice, 1)
	if twice.Bit(0) == 1 && (rest.Sign() > 0 || whole.Bit(0) == 1) {
		whole.Add(whole, big.NewInt(1))
	}
	return whole
}
