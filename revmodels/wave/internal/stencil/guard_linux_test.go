package stencil

import (
	"testing"

	"revnum/fixed"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
	"revnum/rev"
)

// Loops touch nothing before or after the grids.
func TestGuard(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		t.Run("float64", testGuard[float64, float64])
		t.Run("float32", testGuard[float32, float32])
		t.Run("Q43", testGuard[fixed.Q43, float64])
	})
}

func testGuard[T float32 | float64 | fixed.Q43, F cpu.Float](t *testing.T) {
	dst, m, u, p := simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[F](t)
	for n := 1; n < 70; n++ {
		for _, last := range []bool{false, true} {
			d, m, u, p := guardedGrid(dst, n, last), guardedGrid(m, n, last), guardedGrid(u, n, last), guardedGrid(p, n, last)
			LeapRows(d, m, u, Reach, Reach+1)
			for i := range d.Rows {
				Leap(d.Row(i), m.Row(i), &Band[T]{u.Row(i), u.Row(i), u.Row(i), u.Row(i), u.Row(i)})
				AddMul(d.Row(i), m.Row(i), &Band[T]{u.Row(i), u.Row(i), u.Row(i), u.Row(i), u.Row(i)})
				LeapBack(d.Row(i), m.Row(i), &Band[F]{p.Row(i), p.Row(i), p.Row(i), p.Row(i), p.Row(i)})
				Mul(p.Row(i), d.Row(i), m.Row(i))
			}
		}
	}
}

// guardedGrid returns a grid of n columns at the beginning of x, or at its end.
func guardedGrid[T rev.Real](x []T, n int, last bool) *rev.General[T] {
	const rows = 2*Reach + 1
	if last {
		x = x[len(x)-rows*n:]
	}
	return &rev.General[T]{Rows: rows, Cols: n, Stride: n, Data: x[:rows*n]}
}
