//go:build !amd64 || noasm

package dense

import "revnum/internal/simd/cpu"

// Without assembly the tier is Generic and these are never called.

func gemmVector[T cpu.Float](int, int, int, T, []T, int, int, []T, int, int, []T, int) {
	panic("unreachable")
}

func transposeVector[T cpu.Float]([]T, int, []T, int, int, int) { panic("unreachable") }

func triNormsVector[T cpu.Float](int, int, []T, []T, int, []T, int, []T) { panic("unreachable") }

func momentsVector[T cpu.Float](int, int, []T, []T, int, []T, []T, int) { panic("unreachable") }
