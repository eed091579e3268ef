// Package memory says whether the memory of this machine suffices.
package memory

import (
	"fmt"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"unsafe"
)

// available returns the number of bytes that this process can still allocate without swapping:
// what the system has, or less where GOMEMLIMIT says so.
func available() uint64 {
	have := systemMemory()
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return have
	}
	used := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(used)
	return min(have, uint64(max(0, limit-int64(used[0].Value.Uint64()-used[1].Value.Uint64()))))
}

// unknown is the number of bytes where the system does not say: 4 GiB, or less where the address
// space is smaller.
const unknown = min(4<<30, math.MaxInt)

// Check returns an error if this machine lacks the memory for floats numbers of
// type float64. The error begins with what. Floats may be any number: a product of sizes that
// overflows int, too.
func Check(floats float64, what string) error {
	have := available()
	if floats > float64(have/8) {
		debug.FreeOSMemory() // garbage counts as used
		have = available()
	}
	if floats > float64(have/8) {
		return fmt.Errorf("%s need %.3g GiB, and %.3g GiB are available", what,
			floats*8/(1<<30), float64(have)/(1<<30))
	}
	return nil
}

// unchecked is the number of bytes up to which Grow does not ask how much memory there is.
const unchecked = 1 << 16

// Grow returns x with room for n more elements, or the error of Check if there is no memory for
// more. It is for what arrives from a file that may be compressed, so that nobody knows how much
// it is. The error names the file.
func Grow[E any](x []E, n int, name string) ([]E, error) {
	if len(x)+n <= cap(x) {
		return x, nil
	}
	more := max(n, cap(x)/4)
	size := float64(unsafe.Sizeof(*new(E)))
	if cap(x) < int(unchecked/size) {
		more = max(n, cap(x))
	}
	if bytes := size * (float64(len(x)) + float64(more)); bytes > unchecked {
		if err := Check(bytes/8, name+": the numbers"); err != nil {
			return nil, err
		}
	}
	return slices.Grow(x, more), nil
}
