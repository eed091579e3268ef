package dense

import (
	"fmt"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// reportRate runs f over short slices of the benchmark and reports the best rate, in GFLOP/s
// and as a fraction of the peak. The peak is measured in the same way.
func reportRate[T cpu.Float](b *testing.B, flops int, f func()) {
	const slice = 200 * time.Microsecond
	best := func(loop func() bool, flops int, f func()) float64 {
		reps := 1
		for {
			start := time.Now()
			for range reps {
				f()
			}
			if time.Since(start) >= slice {
				break
			}
			reps *= 2
		}
		least := time.Hour
		for loop() {
			start := time.Now()
			for range reps {
				f()
			}
			least = min(least, time.Since(start))
		}
		return float64(reps*flops) / float64(least.Nanoseconds())
	}
	slices := 200
	peak := best(func() bool { slices--; return slices > 0 }, int(cpu.PeakFMA[T](1000)), func() { cpu.PeakFMA[T](1000) })
	rate := best(b.Loop, flops, f)
	b.ReportMetric(0, "ns/op") // an iteration is a slice
	b.ReportMetric(rate, "GFLOP/s")
	b.ReportMetric(rate/peak, "of-peak")
}

func benchmarkVectorTiers(b *testing.B, f func(b *testing.B)) {
	was := tier
	defer func() { tier = was }()
	for tier = cpu.AVX2; tier <= cpu.Best(); tier++ {
		b.Run(fmt.Sprint(tier), f)
	}
}

func BenchmarkGemm(b *testing.B) {
	for _, n := range []int{8, 10, 16, 32, 64, 100, 128, 160, 200, 256, 300, 400, 512, 1024} {
		x, y, z := simdtest.Normal[float64](n*n, 1), simdtest.Normal[float64](n*n, 2), make([]float64, n*n)
		gx, gy, gz := blas64.General{Rows: n, Cols: n, Stride: n, Data: x}, blas64.General{Rows: n, Cols: n, Stride: n, Data: y}, blas64.General{Rows: n, Cols: n, Stride: n, Data: z}
		if n <= 512 {
			b.Run(fmt.Sprintf("gonum/NN/n=%d", n), func(b *testing.B) {
				reportRate[float64](b, 2*n*n*n, func() { blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, gx, gy, 1, gz) })
			})
		}
		for _, l := range []struct {
			name               string
			rsa, csa, rsb, csb int
		}{{"NN", n, 1, n, 1}, {"TN", 1, n, n, 1}, {"NT", n, 1, 1, n}, {"TT", 1, n, 1, n}} {
			b.Run(fmt.Sprintf("%s/n=%d", l.name, n), func(b *testing.B) {
				benchmarkVectorTiers(b, func(b *testing.B) {
					reportRate[float64](b, 2*n*n*n, func() { Gemm(n, n, n, 1e-9, x, l.rsa, l.csa, y, l.rsb, l.csb, z, n) })
				})
			})
		}
	}
}

// The triangular products count only the flops that they need: d(d+1)n, and 2dn more for the
// squares of TriNorms.

func BenchmarkTriNorms(b *testing.B) {
	for _, n := range []int{48, 240} {
		for _, d := range []int{2, 10, 16, 32, 64, 128} {
			l, c, q, mu := simdtest.Normal[float64](d*d, 1), simdtest.Normal[float64](d*n, 2), make([]float64, n), simdtest.Normal[float64](d, 3)
			b.Run(fmt.Sprintf("n=%d/d=%d", n, d), func(b *testing.B) {
				benchmarkVectorTiers(b, func(b *testing.B) {
					reportRate[float64](b, d*(d+3)*n, func() { TriNorms(d, n, q, l, d, c, n, mu) })
				})
			})
		}
	}
}

func BenchmarkWeightedMoments(b *testing.B) {
	for _, n := range []int{48, 240, 480} {
		for _, d := range []int{2, 10, 16, 32, 64, 128} {
			c, w, s := simdtest.Normal[float64](d*n, 1), simdtest.Normal[float64](n, 2), make([]float64, d)
			m := make([]float64, d*d)
			b.Run(fmt.Sprintf("n=%d/d=%d", n, d), func(b *testing.B) {
				benchmarkVectorTiers(b, func(b *testing.B) {
					reportRate[float64](b, d*(d+1)*n, func() { WeightedMoments(d, n, s, m, d, w, c, n) })
				})
			})
		}
	}
}
