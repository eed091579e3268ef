package revlinalg

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"revnum/internal/logstep/logtest"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

var (
	exact     = logtest.Exact
	bigLogSum = logtest.Sum
)

// normals returns n numbers that are scale times standard normal.
func normals[T rev.Float](rnd *rand.Rand, n int, scale float64) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(scale * rnd.NormFloat64())
	}
	return x
}

// best returns the highest rate of work in a few calls of f, which returns how
// much it did.
func best(f func() int64) float64 {
	rate := 0.0
	for range 20 {
		start := time.Now()
		work := f()
		rate = max(rate, float64(work)/time.Since(start).Seconds())
	}
	return rate
}

// The limits of one core of this machine, in flop/s and byte/s.
var (
	peakFlops = sync.OnceValue(func() float64 {
		return best(func() int64 { return cpu.PeakFMA[float64](50_000) })
	})
	peakBytes = sync.OnceValue(func() float64 {
		x := make([]float64, 1<<23)
		for i := range x {
			x[i] = 1
		}
		return best(func() int64 { return vec.ReadAll(x) })
	})
)

// reportFlops reports the rate of a benchmark that takes this many operations
// for each iteration, and its fraction of the peak of one core.
func reportFlops(b *testing.B, flops int) {
	rate := float64(flops) * float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(rate/1e9, "GFLOP/s")
	b.ReportMetric(100*rate/peakFlops(), "%peak")
}

// reportBytes does the same for bytes read and written.
func reportBytes(b *testing.B, bytes int) {
	rate := float64(bytes) * float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(rate/1e9, "GB/s")
	b.ReportMetric(100*rate/peakBytes(), "%bandwidth")
}
