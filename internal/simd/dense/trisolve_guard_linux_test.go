package dense

import (
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// TestTriSolveGuardPages checks that the tiles do not read or write past the ends of their
// operands. These lie next to pages that fault.
func TestTriSolveGuardPages(t *testing.T) {
	simdtest.ForEachType(t, &tier, testTriSolveGuardPages[float64], testTriSolveGuardPages[float32])
}

func testTriSolveGuardPages[T cpu.Float](t *testing.T) {
	pages := [][]T{simdtest.Guarded[T](t), simdtest.Guarded[T](t)}
	for _, atEnd := range []bool{false, true} {
		part := func(page, n int) []T {
			if p := pages[page]; atEnd {
				return p[len(p)-n:]
			}
			return pages[page][:n:n]
		}
		for _, m := range []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17} {
			tri := part(0, m*m)
			for i := range m {
				tri[i*(m+1)] = 1
			}
			for n := 1; n <= 28; n++ {
				for _, upper := range []bool{false, true} {
					TriSolve(m, n, tri, m, 1, upper, false, part(1, m*n), n)
					TriSolve(m, n, tri, 1, m, upper, false, part(1, m*n), n)
				}
			}
		}
	}
}
