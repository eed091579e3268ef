package dense

import (
	"testing"

	"revnum/internal/simd/simdtest"
)

// TestSymvGuardPages checks that Symv does not read or write past the ends of its operands.
func TestSymvGuardPages(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		pages := [][]float64{simdtest.Guarded[float64](t), simdtest.Guarded[float64](t), simdtest.Guarded[float64](t)}
		for _, n := range []int{8, 16} {
			for _, atEnd := range []bool{false, true} {
				part := func(page, n int) []float64 {
					if p := pages[page]; atEnd {
						return p[len(p)-n:]
					}
					return pages[page][:n:n]
				}
				Symv(0, n, part(0, n*n), n, part(1, n), part(2, n))
			}
		}
	})
}
