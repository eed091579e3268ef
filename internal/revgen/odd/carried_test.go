package odd

import (
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

func filterSpec[T rev.Real]() revtest.Spec[Filter[T]] {
	return revtest.Spec[Filter[T]]{New: func(rnd *rand.Rand, n int) Filter[T] {
		return Filter[T]{Out: scalar[T](0.5), X: vec[T](rnd, n, 1), W: vec[T](rnd, n, 1), A: scalar[T](0.7)}
	}, Sizes: few, RoundTrip: 200, Adjoint: 10000}
}

func aheadSpec[T rev.Real]() revtest.Spec[Ahead[T]] {
	return revtest.Spec[Ahead[T]]{New: func(rnd *rand.Rand, n int) Ahead[T] {
		return Ahead[T]{X: vec[T](rnd, n, 1)}
	}, Sizes: few, RoundTrip: 200, Adjoint: 10000}
}

func downSpec[T rev.Real]() revtest.Spec[Down[T]] {
	return revtest.Spec[Down[T]]{New: func(rnd *rand.Rand, n int) Down[T] {
		return Down[T]{X: vec[T](rnd, n, 1)}
	}, Sizes: few, RoundTrip: 200, Adjoint: 10000}
}

func solveSpec[T rev.Real]() revtest.Spec[Solve[T]] {
	return revtest.Spec[Solve[T]]{New: func(rnd *rand.Rand, n int) Solve[T] {
		return Solve[T]{X: vec[T](rnd, n, 1), M: matrix[T](rnd, n, n, 0.3)}
	}, Sizes: few, Masked: []string{"M"}, RoundTrip: 200, Adjoint: 10000}
}

// Loops in place that carry locals come back, although these locals depend on what the
// loop has changed.
func TestCarriedInPlace(t *testing.T) {
	t.Run("Filter", func(t *testing.T) {
		all(t, filterSpec[float64](), filterSpec[float32](), filterSpec[fixed.Q43]())
	})
	t.Run("Ahead", func(t *testing.T) { all(t, aheadSpec[float64](), aheadSpec[float32](), aheadSpec[fixed.Q43]()) })
	t.Run("Down", func(t *testing.T) { all(t, downSpec[float64](), downSpec[float32](), downSpec[fixed.Q43]()) })
	t.Run("Solve", func(t *testing.T) { all(t, solveSpec[float64](), solveSpec[float32](), solveSpec[fixed.Q43]()) })
}
