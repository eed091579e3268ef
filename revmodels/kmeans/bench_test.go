package kmeans

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
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
