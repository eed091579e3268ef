package kmeans

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/simd/simdtest"
	"revnum/rev"
)

// blobs returns n points in d dimensions around k centres in a cube of width 20.
func blobs(rnd *rand.Rand, n, d, k int) *mat.Dense {
	centres := normals[float64](rnd, k, d)
	for i := range centres.Data {
		centres.Data[i] = 20*rnd.Float64() - 10
	}
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j, c := range centres.Row(i % k) {
			x.Set(i, j, c+rnd.NormFloat64())
		}
	}
	return x
}

func BenchmarkFit(b *testing.B) {
	for _, d := range []int{10, 64} {
		x := blobs(rand.New(rand.NewPCG(1, 1)), 20000, d, 20)
		b.Run("", func(b *testing.B) {
			for b.Loop() {
				if _, _, err := Fit(b.Context(), x, 20, &Options{Workers: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGradBench measures GradBench's functions, cost and dir, in its sizes.
func BenchmarkGradBench(b *testing.B) {
	for _, comps := range []int{10, 100, 1000} {
		for _, n := range []int{1000, 10000} {
			for _, d := range []int{8, 16} {
				rnd := rand.New(rand.NewPCG(1, 1))
				x := rev.NewGeneral[float64](n, d, nil)
				for i := range x.Data {
					x.Data[i] = rnd.Float64()
				}
				k := Cost[float64]{Out: new(float64), X: x, Centroids: rev.NewGeneral(comps, d, x.Data[(n-comps)*d:]), Workers: 1}
				dir := rev.NewGeneral[float64](comps, d, nil)
				for name, f := range map[string]func(){"cost": k.Forward, "dir": func() { k.NewtonDirection(dir) }} {
					b.Run(fmt.Sprintf("%s/k=%d,n=%d,d=%d", name, comps, n, d), func(b *testing.B) {
						b.ReportMetric(simdtest.LeastTime(b.Loop, f)/1e3, "least-µs")
					})
				}
			}
		}
	}
}
