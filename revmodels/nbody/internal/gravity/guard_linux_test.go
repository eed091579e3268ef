package gravity

import (
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// No loop reads or writes outside of its operands: they lie against pages that
// fault, before and after.
func TestGuardPages(t *testing.T) {
	simdtest.ForEachType(t, &tier, testGuardPages[float64], testGuardPages[float32])
}

func testGuardPages[T cpu.Float](t *testing.T) {
	target, acc, sources := simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t)
	for n := 1; n < 40; n++ {
		size := (n + Lanes - 1) / Lanes * Rows * Lanes
		Kick(target[:size:size], n, 0, 1)
		Kick(target[len(target)-size:], n, 0, 1)
		for lanes := 1; lanes <= Lanes; lanes++ {
			for _, cut := range []func(s []T, n int) []T{
				func(s []T, n int) []T { return s[:n:n] }, func(s []T, n int) []T { return s[len(s)-n:] },
			} {
				Attract(cut(target, Target*Lanes), cut(acc, Sums*Lanes), cut(sources, Source*n), n, lanes, 0)
				Tides(cut(target, Full*Lanes), cut(acc, (Dots+1)*Lanes), cut(sources, Full*n), n, lanes, 0)
			}
		}
	}
}
