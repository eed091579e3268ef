package fixedpoint

import (
	"testing"

	"revnum/fixed"
	"revnum/internal/simd/simdtest"
)

// TestGuardPages checks that no loop reads or writes past the ends of its operands. These lie
// next to pages that fault.
func TestGuardPages(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		pages := [][]fixed.Q43{simdtest.Guarded[fixed.Q43](t), simdtest.Guarded[fixed.Q43](t), simdtest.Guarded[fixed.Q43](t)}
		for _, last := range []bool{false, true} {
			for n := range 40 {
				x, y, z := simdtest.End(pages[0], n, last), simdtest.End(pages[1], n, last), simdtest.End(pages[2], n, last)
				Dot(x, y)
				Axpy(1, fixed.One/3, x, y)
				AddProducts(-1, x, y, z)
				Shears(fixed.One/3, fixed.One/2, true, x, y)
			}
			for m := 1; m <= 17; m++ {
				for n := 1; n <= 17; n++ {
					for _, k := range []int{1, 7, 8, 9} {
						a, b, c := simdtest.End(pages[0], m*k, last), simdtest.End(pages[1], k*n, last), simdtest.End(pages[2], m*n, last)
						a[0] = 1 << (40 + m%2*20) // both kinds of numbers
						Gemm(m, n, k, 1, a, k, 1, b, n, 1, c, n)
						Gemm(m, n, k, -1, a, 1, m, b, 1, k, c, n)
					}
				}
			}
		}
	})
}
