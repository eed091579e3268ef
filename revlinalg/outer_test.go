package revlinalg

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
)

func outerSpec[T rev.Real]() revtest.Spec[Outer[T]] {
	return revtest.Spec[Outer[T]]{New: func(rnd *rand.Rand, n int) Outer[T] {
		return Outer[T]{A: kerneltest.Matrix[T](rnd, n, n+1), Alpha: &kerneltest.Vector[T](rnd, 1).Data[0], X: kerneltest.Vector[T](rnd, n), Y: kerneltest.Vector[T](rnd, n+1)}
	}}
}

func TestOuter(t *testing.T) {
	kerneltest.Kernels(t, outerSpec[float32](), outerSpec[float64](), outerSpec[fixed.Q43]())
}

func TestOuterValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(22, 2))
	a, alpha := mat.NewDense(9, 8, kerneltest.Normals[float64](rnd, 72, 1)).Slice(1, 8, 2, 7).(*mat.Dense), 3.0
	x, y := mat.NewVecDense(7, kerneltest.Normals[float64](rnd, 7, 1)), mat.NewVecDense(5, kerneltest.Normals[float64](rnd, 5, 1))
	var want mat.Dense
	want.RankOne(a, alpha, x, y)
	NewOuter(a, &alpha, x, y).Forward()
	if !mat.EqualApprox(a, &want, 1e-14) {
		t.Errorf("got %v, want %v", mat.Formatted(a), mat.Formatted(&want))
	}
}
