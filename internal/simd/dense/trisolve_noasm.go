//go:build !amd64 || noasm

package dense

import "revnum/internal/simd/cpu"

// Without assembly the tier is Generic and this is never called.

func triSolveVector[T cpu.Float](int, int, int, int, []T, int, int, bool, *[triSolveRows]T, []T, int) {
	panic("unreachable")
}
