package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func BenchmarkExp(b *testing.B) {
	x := normalSlice[float64](1000, 1)
	y := make([]float64, len(x))
	b.Run("math", func(b *testing.B) {
		for b.Loop() {
			for i, v := range x {
				y[i] = math.Exp(v)
			}
		}
		perElement(b, len(x))
	})
	benchmarkTiers(b, func(n int) func() { return func() { Exp(y[:n], x[:n]) } })
}

func BenchmarkExp32(b *testing.B) {
	x := normalSlice[float32](1000, 1)
	y := make([]float32, len(x))
	benchmarkTiers(b, func(n int) func() { return func() { Exp(y[:n], x[:n]) } })
}

func BenchmarkLog(b *testing.B) {
	x := normalSlice[float64](1000, 1)
	for i, v := range x {
		x[i] = v * v
	}
	y := make([]float64, len(x))
	b.Run("math", func(b *testing.B) {
		for b.Loop() {
			for i, v := range x {
				y[i] = math.Log(v)
			}
		}
		perElement(b, len(x))
	})
	benchmarkTiers(b, func(n int) func() { return func() { Log(y[:n], x[:n]) } })
}

func BenchmarkLog32(b *testing.B) {
	x := normalSlice[float32](1000, 1)
	for i, v := range x {
		x[i] = v * v
	}
	y := make([]float32, len(x))
	benchmarkTiers(b, func(n int) func() { return func() { Log(y[:n], x[:n]) } })
}

// benchmarkTiers times the functions that f returns for several lengths.
func benchmarkTiers(b *testing.B, f func(n int) func()) {
	was := tier
	defer func() { tier = was }()
	for tier = Generic; tier <= machineTier(); tier++ {
		for _, n := range []int{4, 32, 1000} {
			b.Run(fmt.Sprintf("%v/n=%d", tier, n), func(b *testing.B) {
				f := f(n)
				for b.Loop() {
					f()
				}
				perElement(b, n)
			})
		}
	}
}

func perElement(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/elt")
}

// normalSlice returns n numbers from the normal distribution.
func normalSlice[T Float](n int, seed uint64) []T {
	rnd := rand.New(rand.NewPCG(seed, 0))
	x := make([]T, n)
	for i := range x {
		x[i] = T(rnd.NormFloat64())
	}
	return x
}
