package cuda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revmodels/gmm"
	"revnum/revnn"
	"revnum/revsparse"
)

// TestEmpty has operands without rows, columns or terms, and the results of the CPU.
func TestEmpty(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	type q = fixed.Q43
	for _, s := range [][3]int{{0, 0, 0}, {2, 0, 3}, {0, 3, 2}, {2, 3, 0}, {0, 0, 2}, {2, 0, 0}, {0, 2, 0}} {
		same(t, func(rnd *rand.Rand) hostMatMul[q] {
			return hostMatMul[q]{C: general[q](rnd, s[0], s[1]), A: general[q](rnd, s[0], s[2]), B: general[q](rnd, s[2], s[1])}
		}, func(k hostMatMul[q]) revlinalg.MatMul[q] { return revlinalg.MatMul[q](k) })
		same(t, func(rnd *rand.Rand) hostAffine[q] { return newAffine[q](rnd, s[0], s[1]) },
			func(k hostAffine[q]) revlinalg.Affine[q] { return revlinalg.Affine[q](k) })
		same(t, func(rnd *rand.Rand) hostAffineBatch[q] { return newAffineBatch[q](rnd, s[0], s[1], s[2]) },
			func(k hostAffineBatch[q]) revnn.AffineBatch[q] { return revnn.AffineBatch[q](k) })
		same(t, func(rnd *rand.Rand) hostMul[q] {
			a := revsparse.CSR[q, int32]{Rows: s[0], Cols: s[1], Ptr: make([]int32, s[0]+1), Ind: []int32{}, Data: []q{}}
			return hostMul[q]{C: general[q](rnd, s[0], s[2]), Alpha: &vector[q](rnd, 1).Data[0], A: a, B: general[q](rnd, s[1], s[2])}
		}, func(k hostMul[q]) revsparse.Mul[q, int32] {
			return revsparse.Mul[q, int32]{C: k.C, Alpha: k.Alpha, A: k.A, B: k.B}
		})
	}
	for _, s := range [][2]int{{0, 3}, {1, 3}, {3, 0}} {
		same(t, func(rnd *rand.Rand) hostUnitary[q] { return randomUnitary[q](rnd, s[0], s[1], false) },
			func(k hostUnitary[q]) revlinalg.Unitary[q] { return revlinalg.Unitary[q](k) })
	}
	for _, n := range []int{0, 3} {
		for _, d := range []int{0, 2} {
			for _, comps := range []int{0, 2} {
				for _, prior := range []gmm.Prior{{}, {Gamma: 0.7, M: 1, Sign: gmm.ADBench}} {
					t.Run(fmt.Sprint("LogPosterior ", n, d, comps, prior), func(t *testing.T) {
						random := func() (k, g, tan hostPosterior[float64]) {
							rnd := rand.New(rand.NewPCG(5, 6))
							return randomPosterior[float64](rnd, n, d, comps, prior), randomPosterior[float64](rnd, n, d, comps, prior), randomPosterior[float64](rnd, n, d, comps, prior)
						}
						k, g, tan := random()
						k2, g2, tan2 := random()
						*g.Out, *g2.Out = 2, 2
						if err := rev.Tangent(k, tan); err != nil {
							t.Fatal(err)
						}
						gmm.LogPosterior[float64](k2).Tangent(gmm.LogPosterior[float64](tan2))
						near := func(name string, got, want []float64) {
							for i, v := range got {
								if w := want[i]; !(math.Abs(v-w) <= 1e-13*(1+math.Abs(w))) && !(v != v && w != w) && v != w {
									t.Errorf("%s is %v, on the CPU %v", name, v, w)
								}
							}
						}
						near("Out", []float64{*k.Out}, []float64{*k2.Out})
						near("its tangent", []float64{*tan.Out}, []float64{*tan2.Out})
						if err := rev.Adjoint(k, g); err != nil {
							t.Fatal(err)
						}
						gmm.LogPosterior[float64](k2).Adjoint(gmm.LogPosterior[float64](g2))
						near("Out after Adjoint", []float64{*k.Out}, []float64{*k2.Out})
						near("the gradient by α", g.Alpha.Data, g2.Alpha.Data)
						near("the gradient by the means", g.Means.Data, g2.Means.Data)
						near("the gradient by the factors", g.Factors.Data, g2.Factors.Data)
						near("the gradient by the points", g.X.Data, g2.X.Data)
					})
				}
			}
		}
	}
}
