package revlinalg_test

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func TestAxpy(t *testing.T) {
	kerneltest.Kernels(t, revtest.Spec[revlinalg.Axpy[float32]]{}, revtest.Spec[revlinalg.Axpy[float64]]{}, revtest.Spec[revlinalg.Axpy[fixed.Q43]]{})
}

func TestAxpyValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 1))
	m := mat.NewDense(50, 2, kerneltest.Normals[float64](rnd, 100, 1))
	x, y := m.ColView(0).(*mat.VecDense), m.ColView(1).(*mat.VecDense)
	alpha := 1.5
	var want mat.VecDense
	want.AddScaledVec(y, alpha, x)
	revlinalg.NewAxpy(y, &alpha, x).Forward()
	if !mat.EqualApprox(y, &want, 1e-15) {
		t.Errorf("got %v, want %v", y, want)
	}
}
