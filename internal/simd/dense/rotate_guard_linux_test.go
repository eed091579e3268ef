package dense

import (
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// Rotations neither read nor write past the ends of their operands, which lie
// against pages that fault.
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
					Rotate(x, cols, cols, chains, steps, c, s, steps)
					RotateBack(x, cols, cols, chains, steps, c, s, steps)
					RotateTangent(x, cols, g, cols, cols, chains, steps, c, s, s, steps)
					RotateTangentBack(x, cols, g, cols, cols, chains, steps, c, s, s, steps)
					RotateBackCross(x, cols, g, cols, cols, chains, steps, c, s, steps, sums)
					if x, ok := any(x).([]float64); ok && cols%2 == 0 {
						g, c, s, sums := any(g).([]float64), any(c).([]float64), any(s).([]float64), any(part(4, 2*chains*steps)).([]float64)
						RotatePhases(x, cols, cols, chains, steps, c, s, c, s, steps)
						RotatePhasesBack(x, cols, cols, chains, steps, c, s, c, s, steps)
						RotatePhasesTangent(x, cols, g, cols, cols, chains, steps, c, s, c, s, s, s, steps)
						RotatePhasesTangentBack(x, cols, g, cols, cols, chains, steps, c, s, c, s, s, s, steps)
						RotatePhasesBackCross(x, cols, g, cols, cols, chains, steps, c, s, c, s, steps, sums)
					}
				}
			}
		}
	}
}
