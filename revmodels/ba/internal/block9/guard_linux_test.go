package block9

import (
	"testing"

	"revnum/internal/simd/simdtest"
)

// The loops on blocks neither read nor write past the ends of their operands,
// which lie against pages that fault.
func TestSchurGuardPages(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		pages := [][]float64{simdtest.Guarded[float64](t), simdtest.Guarded[float64](t), simdtest.Guarded[float64](t), simdtest.Guarded[float64](t)}
		for _, atEnd := range []bool{false, true} {
			part := func(page, n int) []float64 {
				if p := pages[page]; atEnd {
					return p[len(p)-n:]
				}
				return pages[page][:n:n]
			}
			for n := 1; n < 5; n++ {
				var which []int32
				var list []int
				for k := range n {
					which, list = append(which, int32(n-1-k)), append(list, n-1-k)
				}
				SubProducts(part(0, n*Len), which, part(1, 27), part(2, 27*n))
				AddNormal(part(0, Len), part(1, 9), part(2, jacobianLen*n), part(3, 2*n), list)
			}
		}
	})
}
