package corner

import (
	"math/rand/v2"
	"slices"
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

func powersSpec[T rev.Real]() revtest.Spec[Powers[T]] {
	return revtest.Spec[Powers[T]]{New: func(rnd *rand.Rand, n int) Powers[T] {
		return Powers[T]{X: vec[T](rnd, n, 1), W: vec[T](rnd, n, 1), Y: vec[T](rnd, n, 1)}
	}, Sizes: few, RoundTrip: 200, Adjoint: 10000}
}

func solveSpec[T rev.Real]() revtest.Spec[Solve[T]] {
	return revtest.Spec[Solve[T]]{New: func(rnd *rand.Rand, n int) Solve[T] {
		return Solve[T]{X: vec[T](rnd, n, 1), M: matrix[T](rnd, n, n, 0.3)}
	}, Sizes: few, Masked: []string{"M"}, RoundTrip: 200, Adjoint: 10000}
}

func nestedSpec[T rev.Real]() revtest.Spec[Nested[T]] {
	return revtest.Spec[Nested[T]]{New: func(rnd *rand.Rand, n int) Nested[T] {
		return Nested[T]{X: vec[T](rnd, n, 1), V: vec[T](rnd, n, 1), A: scalar[T](0.7)}
	}, Sizes: few, RoundTrip: 200, Adjoint: 10000}
}

func orbitSpec[T rev.Real]() revtest.Spec[Orbit[T]] {
	return revtest.Spec[Orbit[T]]{New: func(rnd *rand.Rand, n int) Orbit[T] {
		return Orbit[T]{Loss: scalar[T](0.5), X0: vec[T](rnd, 2, 1), V0: vec[T](rnd, 2, 0.3), Path: vec[T](rnd, 2, 1), H: scalar[T](0.05), N: n}
	}, Sizes: []int{0, 1, 2, 5, 11}, RoundTrip: 200, Adjoint: 30000, Difference: max(1e-5, 20000*float64(eps[T]()))}
}

func sparingSpec[T rev.Real]() revtest.Spec[Sparing[T]] {
	return revtest.Spec[Sparing[T]]{New: func(rnd *rand.Rand, n int) Sparing[T] {
		return Sparing[T]{X: vec[T](rnd, n, 1), W: vec[T](rnd, n, 1), Y: scalar[T](0.5), Most: 3}
	}, Sizes: []int{0, 1, 2, 5, 12}, RoundTrip: 1000, Adjoint: 30000, Difference: max(1e-5, 20000*float64(eps[T]()))}
}

// Loops that keep a few states on tapes have the same bits as those that keep all.
func TestSnapshots(t *testing.T) {
	t.Run("Orbit", func(t *testing.T) { all(t, orbitSpec[float64](), orbitSpec[float32](), orbitSpec[fixed.Q43]()) })
	t.Run("Sparing", func(t *testing.T) {
		all(t, sparingSpec[float64](), sparingSpec[float32](), sparingSpec[fixed.Q43]())
	})
	gradient := func(most int) []float64 {
		rnd := rand.New(rand.NewPCG(1, 1))
		s := sparingSpec[float64]()
		k, g, d, gd := s.New(rnd, 200), s.New(rnd, 200), s.New(rnd, 200), s.New(rnd, 200)
		k.Most = most
		k.Tangent(d)
		k.AdjointTangent(g, d, gd)
		return slices.Concat(k.X.Data, g.X.Data, g.W.Data, gd.X.Data, gd.W.Data)
	}
	all := gradient(1000)
	for _, most := range []int{1, 2, 7, 199, 200} {
		if got := gradient(most); !slices.Equal(got, all) {
			t.Errorf("with %d states the derivatives have other bits than with all", most)
		}
	}
}

// What a branch or a loop has changed is not taken for what it was before.
func TestKept(t *testing.T) {
	t.Run("Kept", func(t *testing.T) { all(t, keptSpec[float64](), keptSpec[float32](), keptSpec[fixed.Q43]()) })
	t.Run("Folded", func(t *testing.T) {
		all(t, foldedSpec[float64](), foldedSpec[float32](), foldedSpec[fixed.Q43]())
	})
}

func keptSpec[T rev.Real]() revtest.Spec[Kept[T]] {
	return revtest.Spec[Kept[T]]{New: func(rnd *rand.Rand, n int) Kept[T] {
		return Kept[T]{Y: vec[T](rnd, n, 1), X: vec[T](rnd, n, 1), N: 3}
	}, Sizes: []int{1, 2, 5}, RoundTrip: 200, Adjoint: 10000}
}

func foldedSpec[T rev.Real]() revtest.Spec[Folded[T]] {
	return revtest.Spec[Folded[T]]{New: func(rnd *rand.Rand, n int) Folded[T] {
		return Folded[T]{Y: vec[T](rnd, n, 1), X: vec[T](rnd, n, 1)}
	}, Sizes: []int{1, 2, 5}, RoundTrip: 200, Adjoint: 10000}
}

// Loops in place that carry locals come back, although these locals depend on what the
// loop has changed.
func TestCarriedInPlace(t *testing.T) {
	t.Run("Filter", func(t *testing.T) {
		all(t, filterSpec[float64](), filterSpec[float32](), filterSpec[fixed.Q43]())
	})
	t.Run("Ahead", func(t *testing.T) { all(t, aheadSpec[float64](), aheadSpec[float32](), aheadSpec[fixed.Q43]()) })
	t.Run("Down", func(t *testing.T) { all(t, downSpec[float64](), downSpec[float32](), downSpec[fixed.Q43]()) })
	t.Run("Powers", func(t *testing.T) {
		all(t, powersSpec[float64](), powersSpec[float32](), powersSpec[fixed.Q43]())
	})
	t.Run("Nested", func(t *testing.T) {
		all(t, nestedSpec[float64](), nestedSpec[float32](), nestedSpec[fixed.Q43]())
	})
	t.Run("Solve", func(t *testing.T) { all(t, solveSpec[float64](), solveSpec[float32](), solveSpec[fixed.Q43]()) })
}
