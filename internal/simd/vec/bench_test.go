package vec

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// The benchmarks report the least time per element over short slices of the run, and its
// ratio to the time of the reference, measured in the same way.

func BenchmarkLoops(b *testing.B) {
	for _, n := range []int{4, 32, 100, 1000} {
		dst, x, y := make([]float64, n), simdtest.Normal[float64](n, 1), simdtest.Normal[float64](n, 2)
		slope := make([]float64, n)
		positive := make([]float64, n)
		for i, v := range x {
			positive[i] = v*v + 0.1
		}
		mapTo := func(f func(float64) float64, x []float64) func() {
			return func() {
				for i, v := range x {
					dst[i] = f(v)
				}
			}
		}
		benchmarkTiers(b, "Exp", n, func() { Exp(dst, x) }, mapTo(math.Exp, x))
		benchmarkTiers(b, "Log", n, func() { Log(dst, positive) }, mapTo(math.Log, positive))
		for _, a := range activations {
			benchmarkTiers(b, a.name, n, func() { a.run(dst, slope, x) }, nil)
		}
		benchmarkTiers(b, "Rectify", n, func() { Rectify(dst, 1, 0, x, y) }, nil)
		benchmarkTiers(b, "ExpSubTo", n, func() { ExpSubTo(dst, x, y) }, nil)
		benchmarkTiers(b, "ExpShiftSum", n, func() { ExpShiftSum(dst, x, 1) }, nil)
		benchmarkTiers(b, "Dot", n, func() { Dot(x, y) }, func() { floats.Dot(x, y) })
		benchmarkTiers(b, "Sum", n, func() { Sum(x) }, func() { floats.Sum(x) })
		benchmarkTiers(b, "SumSquares", n, func() { SumSquares(x) }, func() { floats.Dot(x, x) })
		benchmarkTiers(b, "Max", n, func() { Max(x) }, func() { floats.Max(x) })
		benchmarkTiers(b, "AxpyTo", n, func() { AxpyTo(dst, 2, x, y) }, func() { floats.AddScaledTo(dst, y, 2, x) })
		benchmarkTiers(b, "AddTo", n, func() { AddTo(dst, x, y) }, func() { floats.AddTo(dst, x, y) })
		benchmarkTiers(b, "MulTo", n, func() { MulTo(dst, x, y) }, func() { floats.MulTo(dst, x, y) })
		benchmarkTiers(b, "MaxTo", n, func() { MaxTo(dst, x, y) }, nil)
		benchmarkTiers(b, "ScaleTo", n, func() { ScaleTo(dst, 2, x) }, func() { floats.ScaleTo(dst, 2, x) })
		benchmarkTiers(b, "SubColumn", n, func() { SubColumn(n/4, dst, n/4, x, n/4, y[:4]) }, nil)

		dst32, x32, positive32 := make([]float32, n), simdtest.Normal[float32](n, 1), make([]float32, n)
		for i, v := range positive {
			positive32[i] = float32(v)
		}
		benchmarkTiers(b, "Exp32", n, func() { Exp(dst32, x32) }, nil)
		benchmarkTiers(b, "Log32", n, func() { Log(dst32, positive32) }, nil)
		benchmarkTiers(b, "Dot32", n, func() { Dot(x32, positive32) }, nil)
	}
}

func benchmarkTiers(b *testing.B, name string, n int, f, reference func()) {
	was := tier
	defer func() { tier = was }()
	for tier = cpu.Generic; tier <= cpu.Best(); tier++ {
		b.Run(fmt.Sprintf("%s/n=%d/%v", name, n, tier), func(b *testing.B) {
			ns := simdtest.LeastTime(b.Loop, f)
			b.ReportMetric(ns/float64(n), "ns/elt")
			if reference != nil {
				slices := 0
				ref := simdtest.LeastTime(func() bool { slices++; return slices < 100 }, reference)
				b.ReportMetric(ref/ns, "x-reference")
			}
		})
	}
}

// The bandwidth of memory, and the peak of multiply-adds.
func BenchmarkPeak(b *testing.B) {
	const n = 1 << 24
	report := func(b *testing.B, work int64, unit string, f func()) {
		b.ReportMetric(float64(work)/simdtest.LeastTime(b.Loop, f), unit)
	}
	b.Run("FMA64", func(b *testing.B) {
		report(b, cpu.PeakFMA[float64](1000), "GFLOP/s", func() { cpu.PeakFMA[float64](1000) })
	})
	b.Run("FMA32", func(b *testing.B) {
		report(b, cpu.PeakFMA[float32](1000), "GFLOP/s", func() { cpu.PeakFMA[float32](1000) })
	})
	x, y, z := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x { // or they would all be the same page of zeros
		x[i], y[i], z[i] = 1, 2, 3
	}
	b.Run("read", func(b *testing.B) { report(b, ReadAll(x), "GB/s", func() { ReadAll(x) }) })
	b.Run("triad", func(b *testing.B) { report(b, Triad(x, y, 2, z), "GB/s", func() { Triad(x, y, 2, z) }) })
}

func BenchmarkLanes(b *testing.B) {
	for _, n := range []int{8, 100, 1000} {
		y, d, x := make([]float32, n), make([]float32, n), make([]float32, n)
		for i := range x {
			x[i] = 0.1 + 3*float32(i*7919%n)/float32(n)
		}
		for _, f := range lanes {
			benchmarkTiers(b, f.name, n, func() { f.f32(y, d, x) }, nil)
		}
	}
}
