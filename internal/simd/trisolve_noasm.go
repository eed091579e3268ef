//go:build !amd64 || noasm

package simd

// Without assembly the tier is Generic and this is never called.

func triSolveVector[T Float](int, int, int, int, []T, int, int, bool, *[triSolveRows]T, []T, int) {
	panic("unreachable")
}
