package revlinalg_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func sumSpec[T rev.Real]() revtest.Spec[revlinalg.Sum[T]] {
	return revtest.Spec[revlinalg.Sum[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.Sum[T] {
			return revlinalg.Sum[T]{Out: new(T), X: kerneltest.Vector[T](rnd, size)}
		},
		Free: []string{"X.N"},
	}
}

func TestSum(t *testing.T) {
	kerneltest.Kernels(t, sumSpec[float32](), sumSpec[float64](), sumSpec[fixed.Q43]())
}

func TestSumValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 1))
	m := mat.NewDense(50, 2, kerneltest.Normals[float64](rnd, 100, 1))
	x := m.ColView(1).(*mat.VecDense)
	out := 1.0
	revlinalg.NewSum(&out, x).Forward()
	if want := 1 + mat.Sum(x); !(math.Abs(out-want) <= 1e-13) {
		t.Errorf("got %v, want %v", out, want)
	}
}
