package cpu

import "unsafe"

// Float is the constraint of the element types that have vector code.
type Float interface {
	float32 | float64
}

// Is64 reports whether T is float64.
func Is64[T Float]() bool { return unsafe.Sizeof(T(0)) == 8 }

// Lanes returns the number of elements of a vector.
func Lanes[T Float](tier Tier) int {
	if tier == AVX512 {
		return 64 / int(unsafe.Sizeof(T(0)))
	}
	return 32 / int(unsafe.Sizeof(T(0)))
}

// Chunk is how many elements a call of assembly takes at most: some 30 µs of the
// slowest loop. A call cannot be pre-empted.
const Chunk = 1 << 14

// ChunkAt returns how many of n elements go into the call that begins at i.
func ChunkAt(i, n int) int { return min(Chunk, n-i) }
