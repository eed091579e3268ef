package fft

import (
	"testing"
	"unsafe"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// TestGuardPages checks that transforms do not read or write past the ends of their operands.
// These lie next to pages that fault.
func TestGuardPages(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		numbers, page := simdtest.Guarded[float64](t), simdtest.Guarded[float64](t)
		all := unsafe.Slice((*complex128)(unsafe.Pointer(&page[0])), len(page)/2)
		var w Work
		for n := 1; n <= len(all); n++ {
			for _, last := range []bool{false, true} {
				x := simdtest.End(all, n, last)
				Of(n).Transform(&w, x, 1, false, 1)
				Of(n).Transform(&w, x, 1, true, 1)
				for d := 2; d <= n && tier != cpu.Generic; d++ {
					if n%d == 0 && radices(n, tier) != nil {
						newSplit(d, n/d).run(&w.step, x, x, last, 1)
					}
				}
				RealOf(2*n-1).Transpose(&w, x, 1, 1)
				RealOf(2*n-1).AddSpectrum(&w, x, 1, 1, numbers[:2*n-1], 1, 1)
				if n > 1 {
					RealOf(2*n-2).Transpose(&w, x, 1, 1)
					RealOf(2*n-2).AddSpectrum(&w, x, 1, 1, simdtest.End(numbers, 2*n-2, last), 1, 1)
				}
			}
		}
	})
}
