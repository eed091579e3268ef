package gmm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/rev"
)

// cases are the sizes that the README quotes: dimension, components, points.
var cases = [][3]int{{64, 50, 1000}, {32, 100, 1000}, {10, 25, 1000}, {2, 200, 10000}}

func benchmark(b *testing.B, run func(k, g LogPosterior[float64])) {
	for _, s := range cases {
		d, comps, n := s[0], s[1], s[2]
		k := random[float64](rand.New(rand.NewPCG(1, 1)), d, comps, n)
		k.Workers = 1
		g := LogPosterior[float64]{
			Out: new(float64), Alpha: rev.ViewSlice(make([]float64, comps)),
			Means: rev.NewGeneral[float64](comps, d, nil), Factors: rev.NewGeneral[float64](comps, d*(d+1)/2, nil),
		}
		*g.Out = 1
		b.Run(fmt.Sprintf("d=%d/K=%d/n=%d", d, comps, n), func(b *testing.B) {
			for b.Loop() {
				run(k, g)
			}
			flops := float64(n) * float64(comps) * float64(d) * float64(d+1)
			b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "objectiveGFLOP/s")
		})
	}
}

func BenchmarkForward(b *testing.B) { benchmark(b, func(k, _ LogPosterior[float64]) { k.Forward() }) }

func BenchmarkAdjoint(b *testing.B) { benchmark(b, func(k, g LogPosterior[float64]) { k.Adjoint(g) }) }

// BenchmarkFixed runs the passes of 16 Gaussians in 8 dimensions at 1000 points, over Q43: of numbers below 256,
// and of the same points and means 200 times as large.
func BenchmarkFixed(b *testing.B) {
	const d, comps, n, large = 8, 16, 1000, 200
	for _, scale := range []fixed.Q43{1, large} {
		k := fixedRandom(rand.New(rand.NewPCG(1, 2)), d, comps, n, Prior{})
		for _, x := range [][]fixed.Q43{k.X.Data, k.Means.Data} {
			for i := range x {
				x[i] *= scale
			}
		}
		for i := range k.Factors.Rows {
			row := k.Factors.Row(i)
			for j := range row[:d] {
				row[j] -= fixed.Log(scale * fixed.One)
			}
			for j := range row[d:] {
				row[d+j] /= scale
			}
		}
		k.Workers = 1
		g := fixedCotangents(k, fixed.FromFloat64(1e-6))
		g.X = rev.General[fixed.Q43]{}
		for _, pass := range []struct {
			name string
			run  func() error
		}{{"forward", k.Forward}, {"adjoint", func() error { return k.Adjoint(g) }}} {
			b.Run(fmt.Sprintf("scale=%d/%s", int64(scale), pass.name), func(b *testing.B) {
				for b.Loop() {
					if err := pass.run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
