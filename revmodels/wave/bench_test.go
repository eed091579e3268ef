package wave_test

import (
	"fmt"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revmodels/wave"
)

func BenchmarkSteps(b *testing.B) {
	b.Run("float64", benchmarkSteps[float64])
	b.Run("float32", benchmarkSteps[float32])
	b.Run("Q43", benchmarkSteps[fixed.Q43])
}

func benchmarkSteps[T rev.Real](b *testing.B) {
	const n = 1000
	for _, damping := range []wave.Damping{{}, {30, 0.1}} {
		k := wave.Steps[T]{U: rev.NewGeneral[T](n, n, nil), Prev: rev.NewGeneral[T](n, n, nil), M: rev.NewGeneral[T](n, n, nil), N: 4, Damping: damping, Absorbed: new(wave.Absorbed)}
		for i := range k.M.Data {
			k.M.Data[i] = fixed.Of[T](0.25)
		}
		k.U.Data[n*n/2] = fixed.Of[T](1)
		g := *rev.ZeroLike(&k)
		g.Absorbed = nil
		perCell := func(b *testing.B) { b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*k.N*n*n), "ns/cell") }
		b.Run(fmt.Sprintf("width %d/Forward and Inverse", damping.Width), func(b *testing.B) {
			for b.Loop() {
				_, _ = k.Forward(), k.Inverse()
			}
			perCell(b)
		})
		b.Run(fmt.Sprintf("width %d/Forward and Adjoint", damping.Width), func(b *testing.B) {
			for b.Loop() {
				_, _ = k.Forward(), k.Adjoint(g)
			}
			perCell(b)
		})
	}
}
