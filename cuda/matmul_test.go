package cuda

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revlinalg"
)

// TestLargeMatMul compares products that are computed in large tiles, with and without
// tensor cores, with those of the host.
func TestLargeMatMul(t *testing.T) {
	for _, capability := range []int{75, 80} {
		d := interpret(t, 1<<22)
		d.capability = capability
		testDevice = open(t, d)
		rnd := rand.New(rand.NewPCG(7, 8))
		for _, trans := range []bool{false, true} {
			const m, n, k = 70, 66, 21
			h := hostMatMul[float64]{C: general[float64](rnd, m, n), A: general[float64](rnd, m, k), B: general[float64](rnd, k, n), TransA: trans, TransB: trans}
			if trans {
				h.A, h.B = general[float64](rnd, k, m), general[float64](rnd, n, k)
			}
			want := revlinalg.MatMul[float64](h)
			want.C = rev.NewGeneral(m, n, slices.Clone(h.C.Data))
			if err := rev.Inverse(h); err != nil {
				t.Fatal(err)
			}
			want.Inverse()
			for i, v := range h.C.Data {
				if !(math.Abs(v-want.C.Data[i]) <= 1e-13) {
					t.Fatalf("capability %d, transposed %v: element %d is %v, want %v", capability, trans, i, v, want.C.Data[i])
				}
			}
		}
	}
	same(t, func(rnd *rand.Rand) hostMatMul[fixed.Q43] {
		return hostMatMul[fixed.Q43]{C: general[fixed.Q43](rnd, 35, 34), A: general[fixed.Q43](rnd, 35, 5), B: general[fixed.Q43](rnd, 5, 34)}
	}, func(k hostMatMul[fixed.Q43]) revlinalg.MatMul[fixed.Q43] { return revlinalg.MatMul[fixed.Q43](k) })
}
