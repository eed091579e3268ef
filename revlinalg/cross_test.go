package revlinalg_test

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func TestCross(t *testing.T) {
	kerneltest.Kernels(t, revtest.Spec[revlinalg.Cross[float32]]{}, revtest.Spec[revlinalg.Cross[float64]]{}, revtest.Spec[revlinalg.Cross[fixed.Q43]]{})
}

// TestCrossValue compares with gonum, within the rounding of two products and a difference.
func TestCrossValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	k := revlinalg.Cross[float64]{Z: rev.NewGeneral[float64](20, 3, nil), X: kerneltest.Matrix[float64](rnd, 20, 3), Y: kerneltest.Matrix[float64](rnd, 20, 3)}
	k.Forward()
	vec := func(v []float64) r3.Vec { return r3.Vec{X: v[0], Y: v[1], Z: v[2]} }
	for i := range k.Z.Rows {
		x, y, z := vec(k.X.Row(i)), vec(k.Y.Row(i)), vec(k.Z.Row(i))
		if d := r3.Norm(r3.Sub(z, r3.Cross(x, y))); d > 0x1p-51*r3.Norm(x)*r3.Norm(y) {
			t.Errorf("row %d: %v × %v is %v, want %v", i, x, y, z, r3.Cross(x, y))
		}
	}
}
