package vec

import (
	"runtime"
	"unsafe"

	"revnum/internal/simd/cpu"
)

// These functions show the bandwidth of memory, for comparison in benchmarks. Repeat and time
// them. Each returns the work that it did. Use slices several times as large as the last
// cache. Write to the slices before you measure, because the system maps a page only when it
// is first written.

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
