package simd

import "testing"

// The loops on blocks neither read nor write past the ends of their operands,
// which lie against pages that fault.
func TestSchurGuardPages(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		pages := [][]float64{guarded[float64](t), guarded[float64](t), guarded[float64](t), guarded[float64](t)}
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
				SubProducts9(part(0, n*BlockLen9), which, part(1, 27), part(2, 27*n))
				AddNormal9(part(0, BlockLen9), part(1, 9), part(2, jacobianLen*n), part(3, 2*n), list)
			}
		}
	})
}
