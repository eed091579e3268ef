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
	s, perRound := peakFMA[T](rounds, 0.5, 1)
	runtime.KeepAlive(s)
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

// genericPeakFMA returns a sum that depends on all rounds, and the number of
// multiply-adds in a round.
func genericPeakFMA[T cpu.Float](rounds int, mul, add T) (T, int) {
	a, b, c, d, e, f, g, h := add, add, add, add, add, add, add, add
	for range rounds {
		a, b, c, d = T(a*mul)+add, T(b*mul)+add, T(c*mul)+add, T(d*mul)+add
		e, f, g, h = T(e*mul)+add, T(f*mul)+add, T(g*mul)+add, T(h*mul)+add
	}
	return a + b + c + d + e + f + g + h, 8
}
