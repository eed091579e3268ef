package gmm

import (
	"math/rand/v2"
	"testing"

	"revnum/rev"
	"revnum/rev/revtest"
)

// spec says how to test the kernel over elements of type T.
func spec[T rev.Float](prior Prior) revtest.Spec[LogPosterior[T]] {
	return revtest.Spec[LogPosterior[T]]{
		New: func(rnd *rand.Rand, size int) LogPosterior[T] {
			n, d, comps := 2*size, min(size, 6), min(size, 4)
			matrix := func(r, c int, scale float64) rev.General[T] {
				m := rev.NewGeneral[T](r, c, nil)
				for i := range m.Data {
					m.Data[i] = T(scale * rnd.NormFloat64())
				}
				return m
			}
			return LogPosterior[T]{
				Out: new(T), Alpha: rev.ViewSlice(matrix(comps, 1, 1).Data),
				Means: matrix(comps, d, 1), Factors: matrix(comps, d*(d+1)/2, 0.3), X: matrix(n, d, 1),
				Prior: prior,
			}
		},
		Large:      3000,                // several panels and batches
		Magnitudes: [2]float64{1e-3, 8}, // the square of exp(q) overflows
		Free:       []string{"X.Rows"},
	}
}

func TestConformance(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, spec[float64](Prior{Gamma: 0.7, M: 2})) })
	t.Run("no prior", func(t *testing.T) { revtest.Kernel(t, spec[float64](Prior{})) })
	t.Run("float32", func(t *testing.T) {
		s := spec[float32](Prior{Gamma: 0.7, M: 2})
		// Second derivatives change much over the default step.
		s.Step = 1.0 / 128
		revtest.Kernel(t, s)
	})
}
