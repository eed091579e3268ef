package dense

import (
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// TestRotateGuardPages checks that rotations do not read or write past the ends of their
// operands. These lie next to pages that fault.
func TestRotateGuardPages(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testRotateGuardPages[float64](t)
		testRotateGuardPages[float32](t)
	})
}

func testRotateGuardPages[T cpu.Float](t *testing.T) {
	pages := [][]T{simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t)}
	for _, atEnd := range []bool{false, true} {
		part := func(page, n int) []T {
			if p := pages[page]; atEnd {
				return p[len(p)-n:]
			}
			return pages[page][:n:n]
		}
		for _, chains := range []int{1, RotateChains} {
			for steps := 1; steps <= 3; steps++ {
				for cols := 1; cols <= 70; cols++ {
					x, g := part(0, (steps+chains)*cols), part(1, (steps+chains)*cols)
					c, s, sums := part(2, chains*steps), part(3, chains*steps), part(4, chains*steps)
					clear(s)
					run, r := Run{0, chains, steps}, Rotations[T]{C: c, S: s, D: s, Ld: steps}
					for _, phases := range []bool{false, true} {
						if phases {
							r.PC, r.PS, r.PD = c, s, s
							sums = part(4, 2*chains*steps)
							if cols%2 != 0 {
								continue
							}
						}
						r.Forward(run, x, cols, cols)
						r.Back(run, x, cols, cols)
						r.Tangent(run, x, cols, g, cols, cols)
						r.TangentBack(run, x, cols, g, cols, cols)
						r.BackCross(run, x, cols, g, cols, cols, sums)
					}
				}
			}
		}
	}
}
