package revsparse

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"revnum/fixed"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// randomNumber returns a normal number of any type.
func randomNumber[T rev.Number](rnd *rand.Rand) T {
	var x T
	switch x := any(&x).(type) {
	case *float64:
		*x = rnd.NormFloat64()
	case *float32:
		*x = float32(rnd.NormFloat64())
	case *fixed.Q43:
		*x = fixed.FromFloat64(rnd.NormFloat64())
	case *complex128:
		*x = complex(rnd.NormFloat64(), rnd.NormFloat64())
	}
	return x
}

func numbers[T rev.Number](rnd *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = randomNumber[T](rnd)
	}
	return x
}

func matrixOf[T rev.Number](rnd *rand.Rand, r, c int) rev.General[T] {
	return rev.NewGeneral(r, c, numbers[T](rnd, r*c))
}

// random returns a matrix with about the given number of entries in a row, in
// columns that are not sorted, some of them twice, with empty rows and columns
// and, if there are rows enough, a dense one.
func random[T rev.Number, I Index](rnd *rand.Rand, rows, cols, perRow int) CSR[T, I] {
	a := CSR[T, I]{Rows: rows, Cols: cols, Ptr: make([]I, 1, rows+1), Ind: []I{}}
	for i := range rows {
		n := 0
		switch {
		case cols == 0 || i%7 == 1:
		case i == 4:
			n = cols
		default:
			n = rnd.IntN(2*perRow + 1)
		}
		for range n {
			c := rnd.IntN(cols)
			if c%5 == 3 { // an empty column
				c--
			}
			a.Ind = append(a.Ind, I(c))
		}
		a.Ptr = append(a.Ptr, I(len(a.Ind)))
	}
	a.Data = numbers[T](rnd, len(a.Ind))
	return a
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
		x := make([]float64, 1<<24)
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
