package revlinalg

import (
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

// vectorOf returns n random numbers, standard normal.
func vectorOf[T rev.Real](rnd *rand.Rand, n int) rev.Vector[T] {
	x := make([]T, n)
	for i := range x {
		x[i] = fixed.Of[T](rnd.NormFloat64())
	}
	return rev.ViewSlice(x)
}

// matrixOf returns an m×n matrix of random numbers, standard normal.
func matrixOf[T rev.Real](rnd *rand.Rand, m, n int) rev.General[T] {
	return rev.NewGeneral(m, n, vectorOf[T](rnd, m*n).Data)
}

// kernels runs the conformance suite on a kernel over each type of number.
func kernels[K32 rev.Kernel[K32], K64 rev.Kernel[K64], KQ rev.Kernel[KQ]](
	t *testing.T, s32 revtest.Spec[K32], s64 revtest.Spec[K64], sQ revtest.Spec[KQ],
) {
	t.Run("float32", func(t *testing.T) { revtest.Kernel(t, s32) })
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, s64) })
	t.Run("Q43", func(t *testing.T) { revtest.Kernel(t, sQ) })
}
