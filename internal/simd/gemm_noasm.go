//go:build !amd64 || noasm

package simd

// Without assembly the tier is Generic and these are never called.

func gemmVector[T Float](int, int, int, T, []T, int, int, []T, int, int, []T, int) {
	panic("unreachable")
}

func transposeVector[T Float]([]T, int, []T, int, int, int) { panic("unreachable") }

func triNormsVector[T Float](int, int, []T, []T, int, []T, int, []T) { panic("unreachable") }

func momentsVector[T Float](int, int, []T, []T, int, []T, []T, int) { panic("unreachable") }
