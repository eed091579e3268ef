package band

import (
	"testing"

	"revnum/internal/simd/simdtest"
)

// TestGuardPages checks that no loop reads or writes outside of its operands, which lie next to
// pages that fault, before and after.
func TestGuardPages(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		var pages [8][]float64
		for i := range pages {
			pages[i] = simdtest.Guarded[float64](t)
		}
		for _, atEnd := range []bool{false, true} {
			part := func(page, n int) []float64 {
				if p := pages[page]; atEnd {
					return p[len(p)-n:]
				}
				return pages[page][:n:n]
			}
			for n := range 40 {
				size := n + 2*Pad
				x, xBar, y, dst := part(0, size), part(1, size), part(2, size), part(3, size)
				c := C{part(4, size), part(5, size), part(6, size), part(7, size)}
				for from := Pad; from <= Pad+n; from++ {
					c.Set(x, h, from, Pad+n)
					c.Mul(dst, y, from, Pad+n)
					c.MulTrans(dst, y, from, Pad+n)
					c.Solve(y, from, Pad+n)
					c.Outer(xBar, y, dst, h, from, Pad+n)
				}
			}
		}
	})
}
