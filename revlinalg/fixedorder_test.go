package revlinalg_test

import (
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revlinalg"
)

// Fixed-point sums are the same bits in any order, so in any blocks; with
// elements that wrap, too.
func TestFixedOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(12, 1))
	const n = 300
	x, y := make([]fixed.Q43, n), make([]fixed.Q43, n)
	for i := range x {
		x[i], y[i] = fixed.Q43(rnd.Uint64())>>rnd.IntN(64), fixed.Q43(rnd.Uint64())>>rnd.IntN(64)
	}
	results := func(order []int) (out [7]fixed.Q43) {
		px, py := make([]fixed.Q43, n), make([]fixed.Q43, n)
		for i, j := range order {
			px[i], py[i] = x[j], y[j]
		}
		vx, vy := rev.ViewSlice(px), rev.ViewSlice(py)
		row, col := rev.NewGeneral(1, n, px), rev.NewGeneral(n, 1, py)
		revlinalg.Dot[fixed.Q43]{Out: &out[0], X: vx, Y: vy}.Forward()
		revlinalg.Sum[fixed.Q43]{Out: &out[1], X: vx}.Forward()
		revlinalg.SumSquares[fixed.Q43]{Out: &out[2], X: vx}.Forward()
		revlinalg.Norm2[fixed.Q43]{Out: &out[3], X: vx}.Forward()
		revlinalg.Affine[fixed.Q43]{Y: rev.ViewSlice(out[4:5]), W: row, X: vy}.Forward()
		revlinalg.MatMul[fixed.Q43]{C: rev.NewGeneral(1, 1, out[5:6]), A: row, B: col}.Forward()
		// And a derivative that is a sum.
		revlinalg.Norm2[fixed.Q43]{Out: new(fixed.Q43), X: vx}.Tangent(revlinalg.Norm2[fixed.Q43]{Out: &out[6], X: vy})
		return out
	}
	want := results(rnd.Perm(n))
	for range 20 {
		if got := results(rnd.Perm(n)); got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	if want[0] != want[4] || want[0] != want[5] {
		t.Errorf("the dot product is %v, as a row of Affine %v, of MatMul %v", want[0], want[4], want[5])
	}
}
