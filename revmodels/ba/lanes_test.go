package ba

import (
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revmodels/ba/internal/views"
)

// TestLanes holds residuals and Jacobians of observations side by side against those one by one,
// to the bit: in range, at depth 0, and with numbers of all sizes, which wrap.
func TestLanes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 7))
	for _, n := range []int{1, 2, laneCount - 1, laneCount, 2*laneCount + 5} {
		for round := range 4 {
			k := weightedOf[fixed.Q43](randomWeighted(rnd, n))
			p := weightedProblem(&k)
			if round%2 == 1 {
				for _, x := range [][]fixed.Q43{p.cameras.Data, p.points.Data, p.features.Data, p.weights.Data} {
					for i := range x {
						x[i] = fixed.Q43(rnd.Uint64()) >> rnd.IntN(64)
					}
				}
			}
			if round >= 2 { // the point of the first observation is in the centre of its camera
				copy(p.points.Row(p.point[0]), p.cameras.Row(p.camera[0])[3:6])
			}
			clear(k.R.Data)
			j, dz := rev.NewGeneral[fixed.Q43](2*n, weightedColumns, nil), rev.ViewSlice(make([]fixed.Q43, n))
			p.run(&task[fixed.Q43]{do: views.Derivative, sign: 1, j: j, dz: dz})
			one := realNumber[fixed.Q43]{fixed.One}
			for i := range n {
				c := realCamera(p.model, p.cameras.Row(p.camera[i]))
				x, f := p.points.Row(p.point[i]), p.features.Row(i)
				var e term[realNumber[fixed.Q43]]
				w := realNumber[fixed.Q43]{p.weights.Data[i*p.weights.Inc]}
				e.observe(p.model, &c, [3]realNumber[fixed.Q43]{{x[0]}, {x[1]}, {x[2]}}, w, one, [2]realNumber[fixed.Q43]{{f[0]}, {f[1]}}, true)
				for c := range e.r {
					var want []fixed.Q43
					for _, v := range e.j[c] {
						want = append(want, v.v)
					}
					if got := p.r.Data[(2*i+c)*p.r.Inc]; got != e.r[c].v || !slices.Equal(j.Row(2*i+c), want) {
						t.Fatalf("%d observations, round %d: residual %d of number %d is %d, want %d; Jacobian %d, want %d", n, round, c, i, got, e.r[c].v, j.Row(2*i+c), want)
					}
				}
			}
		}
	}
}
