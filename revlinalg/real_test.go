package revlinalg

import (
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

// vectorOf returns n random numbers, standard normal.
func vectorOf[T rev.Real](rnd *rand.Rand, n int) rev.Vector[T] {
	x := make([]T, n)
	for i := range x {
		x[i] = fixed.Of[T](rnd.NormFloat64())
	}
	return rev.ViewSlice(x)
}

// matrixOf returns an m×n matrix of random numbers, standard normal.
func matrixOf[T rev.Real](rnd *rand.Rand, m, n int) rev.General[T] {
	return rev.NewGeneral(m, n, vectorOf[T](rnd, m*n).Data)
}

// kernels runs the conformance suite on a kernel over each type of number.
func kernels[K32 rev.Kernel[K32], K64 rev.Kernel[K64], KQ rev.Kernel[KQ]](
	t *testing.T, s32 revtest.Spec[K32], s64 revtest.Spec[K64], sQ revtest.Spec[KQ],
) {
	t.Run("float32", func(t *testing.T) { revtest.Kernel(t, s32) })
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, s64) })
	t.Run("Q43", func(t *testing.T) { revtest.Kernel(t, sQ) })
}

// Fixed-point sums are the same bits in any order, so in any blocks; with
// elements that wrap, too.
func TestFixedOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(12, 1))
	const n = 300
	x, y := make([]fixed.Q43, n), make([]fixed.Q43, n)
	for i := range x {
		x[i], y[i] = fixed.Q43(rnd.Uint64())>>rnd.IntN(64), fixed.Q43(rnd.Uint64())>>rnd.IntN(64)
	}
	results := func(order []int) (out [8]fixed.Q43) {
		px, py := make([]fixed.Q43, n), make([]fixed.Q43, n)
		for i, j := range order {
			px[i], py[i] = x[j], y[j]
		}
		vx, vy := rev.ViewSlice(px), rev.ViewSlice(py)
		row, col := rev.NewGeneral(1, n, px), asColumn(vy)
		Dot[fixed.Q43]{Out: &out[0], X: vx, Y: vy}.Forward()
		Sum[fixed.Q43]{Out: &out[1], X: vx}.Forward()
		SumSquares[fixed.Q43]{Out: &out[2], X: vx}.Forward()
		Norm2[fixed.Q43]{Out: &out[3], X: vx}.Forward()
		LogSumExp[fixed.Q43]{Out: &out[4], X: vx}.Forward()
		Affine[fixed.Q43]{Y: rev.ViewSlice(out[5:6]), W: row, X: vy}.Forward()
		MatMul[fixed.Q43]{C: rev.NewGeneral(1, 1, out[6:7]), A: row, B: col}.Forward()
		// And a derivative that is a sum.
		Norm2[fixed.Q43]{Out: new(fixed.Q43), X: vx}.Tangent(Norm2[fixed.Q43]{Out: &out[7], X: vy})
		return out
	}
	want := results(rnd.Perm(n))
	for range 20 {
		if got := results(rnd.Perm(n)); got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	if want[0] != want[5] || want[0] != want[6] {
		t.Errorf("the dot product is %v, as a row of Affine %v, of MatMul %v", want[0], want[5], want[6])
	}
}
