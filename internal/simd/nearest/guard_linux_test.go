package nearest

import (
	"testing"

	"revnum/internal/simd/simdtest"
)

// The loops neither read nor write past the ends of their operands, which lie
// against pages that fault.
func TestGuardPages(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		var pages [6][]float64
		for i := range pages {
			pages[i] = simdtest.Guarded[float64](t)
		}
		rounded := simdtest.Guarded[float32](t)
		for n := 0; n <= 5*Width; n += Width {
			SubRound(rounded[:n:n], pages[0][:n:n], 1)
			SubRound(rounded[len(rounded)-n:], pages[0][len(pages[0])-n:], 1)
		}
		for _, atEnd := range []bool{false, true} {
			part := func(page, n int) []float64 {
				if p := pages[page]; atEnd {
					return p[len(p)-n:]
				}
				return pages[page][:n:n]
			}
			for k := 1; k < 20; k++ {
				for d := 1; d < 20; d++ {
					n, ld := Width, Width+1
					points, c := part(3, (d-1)*ld+n), part(4, k*d)
					Two(part(0, n), part(1, n), part(2, n), points, ld, c, part(5, k), d, 0)
					One(part(0, n), part(2, n), points, ld, c, d, 0)
					AddRows(part(0, 2*d), part(1, 2*d), d, []int32{1, 0, 1}, part(3, 3*d+2), d+1, d, part(5, 3))
					Distances(part(0, 3), part(1, 2*d), d, []int32{1, 0, 1}, part(3, 3*d+2), d+1, d)
				}
			}
		}
	})
}
