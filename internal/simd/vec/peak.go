package vec

import (
	"runtime"
	"unsafe"

	"revnum/internal/simd/cpu"
)

// These functions show the peak performance of the machine, for benchmarks to compare
// with. The caller repeats and times them, and each returns the work that it did. For
// the bandwidth of memory, use slices several times as large as the last cache. Write
// to the slices before: the system maps a page when it is first written.

// PeakFMA runs rounds of independent multiply-adds on registers, and returns the
// number of floating-point operations (two for each multiply-add and element). On
// the generic tier it runs separate multiplications and additions, because the loops
// of that tier consist of these.
func PeakFMA[T cpu.Float](rounds int) (flops int64) {
	if rounds <= 0 {
		return 0
	}
	// a = a/2 + 1 converges to 2, so there is no overflow and no subnormal.
	mul, add := T(0.5), T(1)
	const (
		chains = 12            // of the vector code
		most   = cpu.Chunk / 4 // a round takes longer than an element of other loops
	)
	perRound := chains * cpu.Lanes[T](tier)
	if tier == cpu.Generic {
		var s T
		s, perRound = genericPeakFMA(rounds, mul, add)
		runtime.KeepAlive(s)
	} else {
		for left := rounds; left > 0; left -= most {
			vectorPeakFMA(min(most, left), &mul, &add)
		}
	}
	return 2 * int64(perRound) * int64(rounds)
}

// ReadAll reads x once and returns the number of bytes read.
func ReadAll[T cpu.Float](x []T) (bytes int64) {
	runtime.KeepAlive(Sum(x))
	return int64(len(x)) * int64(unsafe.Sizeof(T(0)))
}

// Triad computes a_i = b_i + alpha·c_i. It returns the number of bytes that it reads
// and writes, as the STREAM benchmark counts them: a is not counted as read,
// although a cache that allocates on writes reads it.
func Triad[T cpu.Float](a, b []T, alpha T, c []T) (bytes int64) {
	AxpyTo(a, alpha, c, b)
	return 3 * int64(len(a)) * int64(unsafe.Sizeof(T(0)))
}
