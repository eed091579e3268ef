package numbers

import (
	"fmt"
	"math/rand/v2"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revsparse"
)

// checkedContests compares passes that look for overflows with those that do not.
func checkedContests(rnd *rand.Rand) (all []contest) {
	const n = 1000
	vector := func() rev.Vector[fixed.Q43] { return rev.ViewSlice(randomMatrix[fixed.Q43](rnd, 1, n, 1e-3).Data) }
	x, y, z, alpha, out := vector(), vector(), vector(), fixed.Of[fixed.Q43](0x1p-10), fixed.Q43(0)
	all = append(all,
		checkedContest("Axpy over Q43, n=1000", revlinalg.Axpy[fixed.Q43]{Alpha: &alpha, X: x, Y: y}),
		checkedContest("MulElem over Q43, n=1000", revlinalg.MulElem[fixed.Q43]{Z: z, X: x, Y: y, Workers: 1}),
		checkedContest("Dot over Q43, n=1000", revlinalg.Dot[fixed.Q43]{Out: &out, X: x, Y: y}),
		checkedContest("SumSquares over Q43, n=1000", revlinalg.SumSquares[fixed.Q43]{Out: &out, X: x}),
	)
	for _, m := range []struct {
		name      string
		n         int
		deviation float64
	}{
		{"MatMul over Q43, n=64", 64, 1e-3}, {"MatMul over Q43, n=256", 256, 1e-3},
		{"MatMul over Q43, numbers near 50, n=256", 256, 50},
	} {
		matrix := func() rev.General[fixed.Q43] { return randomMatrix[fixed.Q43](rnd, m.n, m.n, m.deviation) }
		all = append(all, checkedContest(m.name, revlinalg.MatMul[fixed.Q43]{C: rev.NewGeneral[fixed.Q43](m.n, m.n, nil), A: matrix(), B: matrix(), Workers: 1}))
	}
	square := func(n int) rev.General[fixed.Q43] { return randomMatrix[fixed.Q43](rnd, n, n, 1e-3) }
	for _, n := range []int{64, 256} {
		x, y, b := rev.ViewSlice(square(n).Row(0)), rev.ViewSlice(square(n).Row(0)), rev.ViewSlice(square(n).Row(0))
		theta := rev.ViewSlice(randomMatrix[fixed.Q43](rnd, 1, n*(n-1)/2, 1e-3).Data)
		at := func(name string) string { return fmt.Sprintf("%s over Q43, n=%d", name, n) }
		all = append(all,
			checkedContest(at("Affine"), revlinalg.Affine[fixed.Q43]{Y: y, W: square(n), X: x, B: b}),
			checkedContest(at("Outer"), revlinalg.Outer[fixed.Q43]{A: square(n), Alpha: &alpha, X: x, Y: y}),
			checkedContest(at("Unitary"), revlinalg.Unitary[fixed.Q43]{X: square(n), Theta: theta, Workers: 1}),
		)
	}
	affine, conv := layers[fixed.Q43](rnd)
	all = append(all,
		checkedContest("Norm2 over Q43, n=1000", revlinalg.Norm2[fixed.Q43]{Out: &out, X: x}),
		checkedContest("AffineBatch over Q43, n=64", affine),
		checkedContest("Conv2D over Q43, 3×3, 8 to 16 channels", conv),
	)
	for _, cols := range []int{1, 8, 64} {
		m, dense := sparseOperands[fixed.Q43](rnd, cols)
		all = append(all, checkedContest(fmt.Sprintf("sparse Mul over Q43, %d columns", cols), revsparse.Mul[fixed.Q43, int32]{C: dense(), A: m, B: dense(), Workers: 1}))
	}
	return all
}

// checkedContest compares the round trips of k, so that no result leaves the range after many.
func checkedContest[K rev.Checker[K]](name string, k K) contest {
	return contest{name + ", forward and inverse, checked", "unchecked", 1.3, 2, 2,
		func() {
			mustRun(rev.ForwardChecked(k))
			mustRun(rev.InverseChecked(k))
		}, func() {
			mustRun(rev.Forward(k))
			mustRun(rev.Inverse(k))
		}}
}
