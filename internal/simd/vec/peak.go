package vec

import (
	"runtime"
	"unsafe"

	"revnum/internal/simd/cpu"
)

// What the machine can do at most, for benchmarks to compare with. The caller
// repeats and times these functions; each returns the work that it did. For the
// bandwidth of memory, the slices should be several times as large as the last
// cache, and have been written to, as the system maps a page when that happens.

// PeakFMA runs rounds of independent multiply-adds on registers, and returns the
// number of floating-point operations (two for each multiply-add and element).
// On the generic tier these are separate multiplications and additions, of which
// the loops of that tier are made.
func PeakFMA[T cpu.Float](rounds int) (flops int64) {
	if rounds <= 0 {
		return 0
	}
	// The fixed point of a = a/2 + 1 is 2: no overflow and no subnormals.
	s, perRound := peakFMA[T](rounds, 0.5, 1)
	runtime.KeepAlive(s)
	return 2 * int64(perRound) * int64(rounds)
}

// ReadAll reads x once and returns the number of bytes read.
func ReadAll[T cpu.Float](x []T) (bytes int64) {
	runtime.KeepAlive(Sum(x))
	return int64(len(x)) * int64(unsafe.Sizeof(T(0)))
}

// Triad computes a_i = b_i + alpha·c_i, and returns the number of bytes that it
// reads and writes, as the STREAM benchmark counts them: a is not counted as
// read, though a cache that allocates on writes does that.
func Triad[T cpu.Float](a, b []T, alpha T, c []T) (bytes int64) {
	AxpyTo(a, alpha, c, b)
	return 3 * int64(len(a)) * int64(unsafe.Sizeof(T(0)))
}

// genericPeakFMA returns a sum that depends on all rounds, and the multiply-adds
// in a round.
func genericPeakFMA[T cpu.Float](rounds int, mul, add T) (T, int) {
	a, b, c, d, e, f, g, h := add, add, add, add, add, add, add, add
	for range rounds {
		a, b, c, d = T(a*mul)+add, T(b*mul)+add, T(c*mul)+add, T(d*mul)+add
		e, f, g, h = T(e*mul)+add, T(f*mul)+add, T(g*mul)+add, T(h*mul)+add
	}
	return a + b + c + d + e + f + g + h, 8
}
