// Package kerneltest has what the tests of kernels share: random operands, the suite over
// all real number types, a check of constructors, and rates of benchmarks.
package kerneltest

import (
	"maps"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"revnum/fixed"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
)

// The suite makes much garbage and keeps little.
var _ = debug.SetGCPercent(400)

// Vector returns n random numbers, standard normal.
func Vector[T rev.Real](rnd *rand.Rand, n int) rev.Vector[T] {
	x := make([]T, n)
	for i := range x {
		x[i] = fixed.Of[T](rnd.NormFloat64())
	}
	return rev.ViewSlice(x)
}

// Matrix returns an m×n matrix of random numbers, standard normal.
func Matrix[T rev.Real](rnd *rand.Rand, m, n int) rev.General[T] {
	return rev.NewGeneral(m, n, Vector[T](rnd, m*n).Data)
}

// Normals returns n random numbers that are scale times standard normal.
func Normals[T rev.Float](rnd *rand.Rand, n int, scale float64) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(scale * rnd.NormFloat64())
	}
	return x
}

// Positive returns n random numbers in (1/2, 2).
func Positive[T rev.Real](rnd *rand.Rand, n int) rev.Vector[T] {
	x := make([]T, n)
	for i := range x {
		x[i] = fixed.Of[T](math.Exp2(2*rnd.Float64() - 1))
	}
	return rev.ViewSlice(x)
}

// Away returns n random numbers of magnitude 1/2 or more.
func Away[T rev.Real](rnd *rand.Rand, n int) rev.Vector[T] {
	x := make([]T, n)
	for i := range x {
		v := rnd.NormFloat64()
		x[i] = fixed.Of[T](v + math.Copysign(0.5, v))
	}
	return rev.ViewSlice(x)
}

// Complexes returns n random numbers of magnitude 1/2 or more, away from the cut
// of the logarithm.
func Complexes(rnd *rand.Rand, n int) rev.Vector[complex128] {
	x := make([]complex128, n)
	for i := range x {
		x[i] = cmplx.Rect(0.5+rnd.Float64(), 2.5*(2*rnd.Float64()-1))
	}
	return rev.ViewSlice(x)
}

// Kernel runs the conformance suite on a kernel over T. Over float64 it checks all properties at all sizes. Over other
// types it checks the numbers, which depend on the type, at some sizes. The rest depends little on the type. It
// checks that too if REVNUM_LONG is set, and takes all sizes that the specification does not name.
func Kernel[T rev.Number, K rev.Kernel[K]](t *testing.T, s revtest.Spec[K]) {
	t.Helper()
	if _, is64 := any(*new(T)).(float64); !is64 && !long.Tests() {
		s.Skip = maps.Clone(s.Skip)
		if s.Skip == nil {
			s.Skip = map[revtest.Property]string{}
		}
		for _, p := range untyped {
			s.Skip[p] = "over float64 alone, unless REVNUM_LONG is set"
		}
		if s.Sizes == nil {
			s.Sizes = []int{3, 12}
			if _, exact := any(*new(T)).(fixed.Q43); exact {
				s.Sizes = []int{1, 6, 23}
			}
		}
	}
	revtest.Kernel(t, s)
}

// untyped are the properties that depend little on the type of number.
var untyped = []revtest.Property{
	revtest.SymmetricHessian, revtest.Magnitudes, revtest.Accumulation, revtest.NilGradients, revtest.Omitted, revtest.NilOutputs,
	revtest.SharedInputs, revtest.ReadOnly, revtest.Gaps, revtest.Shapes, revtest.NaN, revtest.Extremes, revtest.NoAllocation,
	revtest.Workers, revtest.Uncall, revtest.Gradients, revtest.Methods,
}

// Kernels does so for each type of number.
func Kernels[K32 rev.Kernel[K32], K64 rev.Kernel[K64], KQ rev.Kernel[KQ]](
	t *testing.T, s32 revtest.Spec[K32], s64 revtest.Spec[K64], sQ revtest.Spec[KQ],
) {
	t.Run("float32", func(t *testing.T) { Kernel[float32](t, s32) })
	t.Run("float64", func(t *testing.T) { Kernel[float64](t, s64) })
	t.Run("Q43", func(t *testing.T) { Kernel[fixed.Q43](t, sQ) })
}
