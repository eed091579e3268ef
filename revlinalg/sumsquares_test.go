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

func sumSquaresSpec[T rev.Real]() revtest.Spec[revlinalg.SumSquares[T]] {
	return revtest.Spec[revlinalg.SumSquares[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.SumSquares[T] {
			return revlinalg.SumSquares[T]{Out: new(T), X: kerneltest.Vector[T](rnd, size)}
		},
		Free: []string{"X.N"},
	}
}

func TestSumSquares(t *testing.T) {
	kerneltest.Kernels(t, sumSquaresSpec[float32](), sumSquaresSpec[float64](), sumSquaresSpec[fixed.Q43]())
}

func TestSumSquaresValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 1))
	m := mat.NewDense(50, 2, kerneltest.Normals[float64](rnd, 100, 1))
	x := m.ColView(1).(*mat.VecDense)
	out := 1.0
	revlinalg.NewSumSquares(&out, x).Forward()
	if want := 1 + mat.Dot(x, x); !(math.Abs(out-want) <= 1e-13) {
		t.Errorf("got %v, want %v", out, want)
	}
}
