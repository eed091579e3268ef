package corner

import (
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

func functionsSpec[T rev.Real]() revtest.Spec[Functions[T]] {
	return revtest.Spec[Functions[T]]{New: func(rnd *rand.Rand, n int) Functions[T] {
		k := Functions[T]{Y: vec[T](rnd, n, 1), X: vec[T](rnd, n, 0.3)}
		for i := range k.X.Data {
			k.X.Data[i] += fixed.Of[T](1)
		}
		return k
	}, Sizes: few, Adjoint: 1e5, Difference: max(1e-6, 2e4*eps[T]())}
}

func TestFunctions(t *testing.T) {
	all(t, functionsSpec[float64](), functionsSpec[float32](), functionsSpec[fixed.Q43]())
	rnd := rand.New(rand.NewPCG(1, 1))
	k := functionsSpec[float64]().New(rnd, 7)
	same(t, "functions", k.Forward, func() { functions(k.Y.Data, k.X.Data) }, k.Y.Data)
}
