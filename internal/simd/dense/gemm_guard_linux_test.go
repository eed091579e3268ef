package dense

import (
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// TestGemmGuardPages checks that the tiles do not read or write past the ends of their
// operands. These lie next to pages that fault.
func TestGemmGuardPages(t *testing.T) {
	simdtest.ForEachType(t, &tier, testGemmGuardPages[float64], testGemmGuardPages[float32])
}

func testGemmGuardPages[T cpu.Float](t *testing.T) {
	pages := [][]T{simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t)}
	sizes := []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17}
	for _, atEnd := range []bool{false, true} {
		// part returns n elements at the beginning or the end of a page.
		part := func(page, n int) []T {
			if p := pages[page]; atEnd {
				return p[len(p)-n:]
			}
			return pages[page][:n:n]
		}
		for _, m := range sizes {
			for n := 1; n <= 28; n++ {
				for _, k := range sizes {
					a, b, c := part(0, m*k), part(1, k*n), part(2, m*n)
					Gemm(m, n, k, 1e-3, a, k, 1, b, n, 1, c, n)
					Gemm(m, n, k, 1e-3, a, 1, m, b, n, 1, c, n)
					Gemm(m, n, k, 1e-3, a, k, 1, b, 1, k, c, n)
				}
				if k := 4*cpu.Lanes[T](tier) + 1; max(m, n)*k <= len(pages[0]) {
					GemmNarrow(m, n, k, 1e-3, part(0, m*k), k, 1, part(1, k*n), n, 1, part(2, m*n), n)
				}
				Transpose(part(2, m*n), m, part(0, m*n), n, m, n)
				TriNorms(m, n, part(2, n), part(0, m*m), m, part(1, m*n), n, part(3, m))
				WeightedMoments(m, n, part(3, m), part(0, m*m), m, part(2, n), part(1, m*n), n)
			}
		}
	}
}
