package wave

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"revnum/fixed"
	"revnum/internal/simd/simdtest"
	"revnum/rev"
	"revnum/rev/revtest"
)

func random[T rev.Real](rnd *rand.Rand, r, c int) rev.General[T] {
	m := rev.NewGeneral[T](r, c, nil)
	for i := range m.Data {
		m.Data[i] = fixed.Of[T](rnd.NormFloat64())
	}
	return m
}

func speeds[T rev.Real](rnd *rand.Rand, r, c int) rev.General[T] {
	m := rev.NewGeneral[T](r, c, nil)
	for i := range m.Data {
		m.Data[i] = fixed.Of[T](0.12 + 0.08*rnd.Float64())
	}
	return m
}

func steps[T rev.Real](rnd *rand.Rand, size, n int, damping Damping) Steps[T] {
	r, c := size, size+1
	if size == 0 {
		c = 0
	}
	k := Steps[T]{
		U: random[T](rnd, r, c), Prev: random[T](rnd, r, c), M: speeds[T](rnd, r, c), N: n,
		Source: random[T](rnd, n, 2), Trace: random[T](rnd, n, 3),
	}
	if size > 0 {
		k.SourceAt = []int{rnd.IntN(r * c), rnd.IntN(r * c)}
		k.ReceiverAt = []int{k.SourceAt[0], rnd.IntN(r * c), rnd.IntN(r * c)}
	} else {
		k.Source, k.Trace = rev.General[T]{}, rev.General[T]{}
	}
	if 2*damping.Width <= r {
		k.Damping = damping
	}
	return k
}

func spec[T rev.Real](n int, damping Damping) revtest.Spec[Steps[T]] {
	s := revtest.Spec[Steps[T]]{
		New:       func(rnd *rand.Rand, size int) Steps[T] { return steps[T](rnd, size, n, damping) },
		RoundTrip: 1000, Adjoint: 20000, Large: 150,
		Failing: func(rnd *rand.Rand, size int) Steps[T] {
			k := steps[T](rnd, max(size, 1), n, damping)
			k.M.Data[0] = fixed.Of[T](0.5)
			return k
		},
	}
	if _, ok := any(T(0)).(float32); ok {
		s.Step = 0x1p-7 // M must stay stable
	}
	return s
}

func TestSteps(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, spec[float64](4, Damping{})) })
	t.Run("float32", func(t *testing.T) { revtest.Kernel(t, spec[float32](3, Damping{})) })
	t.Run("Q43", func(t *testing.T) { revtest.Kernel(t, spec[fixed.Q43](3, Damping{})) })
	t.Run("damped float64", func(t *testing.T) { revtest.Kernel(t, spec[float64](3, Damping{2, 0.25})) })
	t.Run("damped float32", func(t *testing.T) { revtest.Kernel(t, spec[float32](4, Damping{1, 0.25})) })
}

var _ = math.Pi
var _ = slices.Clone[[]int]
var _ = strings.Contains
var _ = simdtest.Panics
