package examples

import (
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revlinalg"
)

// Over fixed point a sum of products is rounded once, as in the kernels by hand, which
// have the same bits.
func TestSumsRoundOnce(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	random := func(n int) []fixed.Q43 {
		x := make([]fixed.Q43, n)
		for i := range x {
			x[i] = fixed.FromFloat64(rnd.NormFloat64())
		}
		return x
	}
	const n, m = 20, 100
	w, x, b := rev.NewGeneral(n, m, random(n*m)), rev.ViewSlice(random(m)), rev.ViewSlice(random(n))
	y, want := make([]fixed.Q43, n), make([]fixed.Q43, n)
	Affine[fixed.Q43]{Y: rev.ViewSlice(y), W: w, X: x, B: b}.Forward()
	revlinalg.Affine[fixed.Q43]{Y: rev.ViewSlice(want), W: w, X: x, B: b}.Forward()
	if !slices.Equal(y, want) {
		t.Errorf("affine: %v, want %v", y, want)
	}

	gy, alpha, galpha, wanted := rev.ViewSlice(random(m)), fixed.One, fixed.Q43(0), fixed.Q43(0)
	Axpy[fixed.Q43]{Y: rev.ViewSlice(random(m)), Alpha: &alpha, X: x}.Adjoint(Axpy[fixed.Q43]{Y: gy, Alpha: &galpha})
	revlinalg.Dot[fixed.Q43]{Out: &wanted, X: gy, Y: x}.Forward()
	if galpha != wanted {
		t.Errorf("the gradient by alpha: %v, want %v", galpha, wanted)
	}
	rounded := fixed.Q43(0)
	for i, v := range x.Data {
		rounded += fixed.Product(gy.Data[i], v)
	}
	if rounded == wanted {
		t.Error("the sum of rounded products is the same: try others")
	}
}
