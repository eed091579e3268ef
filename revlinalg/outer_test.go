package revlinalg

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev/revtest"
)

func TestOuter(t *testing.T) {
	kerneltest.Kernels(t, revtest.Spec[Outer[float32]]{}, revtest.Spec[Outer[float64]]{}, revtest.Spec[Outer[fixed.Q43]]{})
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
