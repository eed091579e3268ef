package revlinalg

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

func outerSpec[T rev.Real]() revtest.Spec[Outer[T]] {
	return revtest.Spec[Outer[T]]{New: func(rnd *rand.Rand, n int) Outer[T] {
		return Outer[T]{A: matrixOf[T](rnd, n, n+1), Alpha: &vectorOf[T](rnd, 1).Data[0], X: vectorOf[T](rnd, n), Y: vectorOf[T](rnd, n+1)}
	}}
}

func TestOuter(t *testing.T) {
	kernels(t, outerSpec[float32](), outerSpec[float64](), outerSpec[fixed.Q43]())
}

func TestOuterValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(22, 2))
	a, alpha := mat.NewDense(9, 8, normals[float64](rnd, 72, 1)).Slice(1, 8, 2, 7).(*mat.Dense), 3.0
	x, y := mat.NewVecDense(7, normals[float64](rnd, 7, 1)), mat.NewVecDense(5, normals[float64](rnd, 5, 1))
	var want mat.Dense
	want.RankOne(a, alpha, x, y)
	NewOuter(a, &alpha, x, y).Forward()
	if !mat.EqualApprox(a, &want, 1e-14) {
		t.Errorf("got %v, want %v", mat.Formatted(a), mat.Formatted(&want))
	}
}
