package paths

import (
	"testing"

	"revnum/internal/simd/simdtest"
)

// The loops neither read nor write past the ends of their operands.
func TestEnds(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		var pages [4][]float64
		for i := range pages {
			pages[i] = simdtest.Guarded[float64](t)
		}
		w := Width[float64]()
		for _, atEnd := range []bool{false, true} {
			part := func(page, n int) []float64 {
				if p := pages[page]; atEnd {
					return p[len(p)-n:]
				}
				return pages[page][:n:n]
			}
			for rows := 1; rows < 12; rows++ {
				for k := 1; k < 5; k++ {
					for _, least := range []bool{false, true} {
						AddBest(part(0, rows*w), w, 1, part(1, rows*k), k, part(2, k*w), w, rows, k, least)
						Best(part(0, rows*w), part(3, rows*w), part(1, rows*k), k, part(2, k*w), w, rows, k, least)
					}
				}
			}
		}
	})
}
