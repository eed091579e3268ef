package cpu

import "unsafe"

// Float is the constraint of the element types that have vector code.
type Float interface {
	float32 | float64
}

// Is64 reports whether T is float64.
func Is64[T Float]() bool { return unsafe.Sizeof(T(0)) == 8 }

// Lanes returns the number of elements in a vector register.
func Lanes[T Float](tier Tier) int {
	if tier == AVX512 {
		return 64 / int(unsafe.Sizeof(T(0)))
	}
	return 32 / int(unsafe.Sizeof(T(0)))
}

// Chunk is the largest number of elements for one call of assembly, which cannot be
// pre-empted. Few loops take 80 µs for that many elements. Functions over Q43 would take longer, so their calls are shorter.
const Chunk = 1 << 14

// ChunkAt returns how many of n elements belong to the call that begins at element
// i.
func ChunkAt(i, n int) int { return min(Chunk, n-i) }
