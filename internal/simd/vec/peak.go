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

// Triad computes a_i = b_i + alpha·c_i, and returns the number of bytes that it
// reads and writes, as the STREAM benchmark counts them: a is not counted as
// read, though a cache that allocates on writes does that.
func Triad[T cpu.Float](a, b []T, alpha T, c []T) (bytes int64) {
	AxpyTo(a, alpha, c, b)
	return 3 * int64(len(a)) * int64(unsafe.Sizeof(T(0)))
}
