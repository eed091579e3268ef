package views

import (
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// No loop reads or writes outside of its operands: they lie against pages that
// fault, before and after.
func TestGuardPages(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testGuardPages[float64](t)
		testGuardPages[float32](t)
	})
}

func testGuardPages[T cpu.Float](t *testing.T) {
	x, y, dst := simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t)
	for n := 1; n <= Lanes; n++ {
		for _, cols := range []int{1, 3, 14, 30} {
			var v Views[T]
			index := make([]int, n)
			index[n-1] = 1
			v.Gather(JacobianRow, x[len(x)-2*cols:], 2, cols, cols, index)
			Prefetch(x[len(x)-2*cols:], cols, index)
			AddRows(dst[len(dst)-2*cols:], cols, x[len(x)-min(n, 8)*cols:], cols, cols, index[n-min(n, 8):])
			if size := n * cols; size <= len(dst) {
				v.Scatter(dst[len(dst)-size:], cols, JacobianRow, cols, n)
			}
		}
	}
	j, z, dz, zeros := simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[int](t)
	clear(zeros)
	for n := 1; n <= 17; n++ {
		for _, m := range []CameraModel{Snavely, Weighted} {
			for _, past := range []bool{false, true} { // and with it the other ends of what is not in use twice
				last := func(x []T, n int) []T { return simdtest.End(x, n, !past) }
				var v Views[T]
				o := Operands[T]{
					Cameras: x[len(x)-PointRow:], Points: x[len(x)-3:], NumPoints: 1, PointStride: 3,
					Camera: simdtest.End(zeros, n, past), Point: simdtest.End(zeros, n, !past),
					X: last(x, 2*n), W: simdtest.End(y, n, past), R: last(dst, 2*n), Z: simdtest.End(z, n, past),
					J: last(j, 2*m.Columns()*n), DZ: last(dz, n),
				}
				for do := Residuals; do <= Derivative; do++ {
					v.Observe(m, do, &o, 1, past)
				}
			}
		}
	}
	for n := 16; n <= Lanes; n += 16 {
		for do := Residuals; do <= Tangent; do++ {
			var v Views[T]
			v.Reproject(Weighted, do, &Operands[T]{X: x[len(x)-2*n:], W: y[len(y)-n:], R: dst[len(dst)-2*n:], Z: dst[:n], G: y[len(y)-2*n:]}, 1)
		}
	}
}
