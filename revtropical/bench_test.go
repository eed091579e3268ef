package revtropical_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"revnum/rev"
	"revnum/revtropical"
)

// A sum with its comparison is two operations.
func BenchmarkMatMul(b *testing.B) {
	const n = 256
	rnd := rand.New(rand.NewPCG(1, 2))
	k := revtropical.MatMul[float64]{C: matrix[float64](rnd, n, n), A: matrix[float64](rnd, n, n), B: matrix[float64](rnd, n, n), Workers: 1}
	g := revtropical.MatMul[float64]{C: matrix[float64](rnd, n, n), A: rev.NewGeneral[float64](n, n, nil), B: rev.NewGeneral[float64](n, n, nil)}
	for name, pass := range map[string]func(){"Forward": k.Forward, "Adjoint": func() { k.Adjoint(g) }} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				pass()
			}
			b.ReportMetric(float64(b.N)*2*n*n*n/b.Elapsed().Seconds()/1e9, "Gop/s")
		})
	}
}

func BenchmarkSparseMul(b *testing.B) {
	const rows, columns = 20000, 16
	rnd := rand.New(rand.NewPCG(1, 2))
	a := sparseOf[float64](rnd, rows, rows)
	g := revtropical.SparseMul[float64, int32]{C: matrix[float64](rnd, rows, columns), A: a.With(make([]float64, len(a.Data))), B: rev.NewGeneral[float64](rows, columns, nil)}
	for _, workers := range []int{1, 2} {
		k := revtropical.SparseMul[float64, int32]{C: matrix[float64](rnd, rows, columns), A: a, B: matrix[float64](rnd, rows, columns), Workers: workers}
		for name, pass := range map[string]func(){"Forward": k.Forward, "Adjoint": func() { k.Adjoint(g) }} {
			b.Run(fmt.Sprintf("%s/workers=%d", name, workers), func(b *testing.B) {
				for b.Loop() {
					pass()
				}
			})
		}
	}
}
