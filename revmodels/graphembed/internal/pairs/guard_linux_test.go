package pairs

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
	bits := simdtest.Guarded[byte](t)
	for n := 1; n < 40; n++ {
		even := (n + 15) / 16 * 2
		kinds := Kinds{bits[len(bits)-even:], bits[:even]}
		KindSums(x[len(x)-n:], kinds, [2]T{})
		KindAffine(dst[len(dst)-n:], x[len(x)-n:], kinds, [2]T{}, [2]T{})
		KindDistances(n, x[len(x)-3*n:], n, y[len(y)-3:], kinds, [2]T{})
		KindInvDistances(dst[len(dst)-n:], x[len(x)-3*n:], n, y[len(y)-3:], kinds, [2]T{}, [2]T{})
		Distances(dst[len(dst)-n:], x[len(x)-3*n:], n, y[len(y)-3:])
		DiffDots(dst[len(dst)-n:], x[len(x)-3*n:], n, y[len(y)-3:], x[len(x)-3*n:], y[len(y)-3:])
		InvDistances(dst[len(dst)-n:], x[len(x)-3*n:], n, y[len(y)-3:])
		AddDiffs(n, dst[len(dst)-3*n:], x[len(x)-3*n:], n, y[len(y)-12:], y[len(y)-4*n:], n, make([]T, 12))
		AddDiffs(n, dst, x, n, y[:12], y, n, make([]T, 12))
	}
}
