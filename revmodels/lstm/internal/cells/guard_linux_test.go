package cells

import (
	"testing"

	"revnum/internal/simd/simdtest"
)

// The loops neither read nor write past the ends of their operands, which lie against
// pages that fault.
func TestGuardPages(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		var pages [6][]float64
		for i := range pages {
			pages[i] = simdtest.Guarded[float64](t)
		}
		for _, atEnd := range []bool{false, true} {
			for steps := 1; steps < 4; steps++ {
				part := func(page, n int) []float64 { return simdtest.End(pages[page], n, atEnd) }
				const ld = Lanes
				x, h, c, w := part(0, steps*ld), part(1, (steps+1)*ld), part(2, (steps+1)*ld), part(3, Weights*ld)
				Forward(x, h, c, w, steps, ld)
				Backward(x, h, c, part(4, steps*ld), w, part(5, Bars*ld), steps, ld)
			}
		}
	})
}
