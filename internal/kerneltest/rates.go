package kerneltest

import (
	"sync"
	"testing"
	"time"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/vec"
)

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
	PeakFlops = sync.OnceValue(func() float64 {
		return best(func() int64 { return cpu.PeakFMA[float64](50_000) })
	})
	PeakBytes = sync.OnceValue(func() float64 {
		x := make([]float64, 1<<24)
		for i := range x {
			x[i] = 1
		}
		return best(func() int64 { return vec.ReadAll(x) })
	})
)

// ReportFlops reports the rate of a benchmark that takes this many operations
// for each iteration, and its fraction of the peak of one core.
func ReportFlops(b *testing.B, flops int) {
	rate := float64(flops) * float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(rate/1e9, "GFLOP/s")
	b.ReportMetric(100*rate/PeakFlops(), "%peak")
}

// ReportBytes does the same for bytes read and written.
func ReportBytes(b *testing.B, bytes int) {
	rate := float64(bytes) * float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(rate/1e9, "GB/s")
	b.ReportMetric(100*rate/PeakBytes(), "%bandwidth")
}
