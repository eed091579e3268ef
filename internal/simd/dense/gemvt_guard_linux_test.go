package dense

import (
	"testing"

	"revnum/internal/simd/simdtest"
)

// TestGemvtGuardPages checks that Gemvt does not read or write past the ends of its operands.
func TestGemvtGuardPages(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		var pages [5][]float64
		for i := range pages {
			pages[i] = simdtest.Guarded[float64](t)
		}
		for _, m := range []int{4, 8} {
			for _, n := range []int{8, 24} {
				for _, atEnd := range []bool{false, true} {
					part := func(page, n int) []float64 {
						if p := pages[page]; atEnd {
							return p[len(p)-n:]
						}
						return pages[page][:n:n]
					}
					Gemvt(m, n, part(0, m*n), n, part(1, n), part(2, m), part(3, m), part(4, n))
				}
			}
		}
	})
}
