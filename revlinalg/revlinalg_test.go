package revlinalg

import (
	"math/rand/v2"

	"revnum/rev"
)

// normals returns n numbers that are scale times standard normal.
func normals[T rev.Float](rnd *rand.Rand, n int, scale float64) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(scale * rnd.NormFloat64())
	}
	return x
}
