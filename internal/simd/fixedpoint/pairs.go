package fixedpoint

import (
	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/cpu"
)

// AddTo sets z_i to x_i + y_i, or to x_i - y_i if sign is negative. It panics if the lengths differ.
func AddTo(sign int, x, y, z []fixed.Q43) {
	if len(x) != len(z) || len(y) != len(z) {
		panic(badLength)
	}
	if tier != cpu.AVX512 || len(z) < vectorLeast {
		for i, v := range x {
			z[i] = v + number.Signed(sign, y[i])
		}
		return
	}
	for i := 0; i < len(z); i += cpu.Chunk {
		vectorSums(cpu.ChunkAt(i, len(z)), (*int64)(&x[i]), (*int64)(&y[i]), (*int64)(&z[i]), sign>>(bitsOfInt-1))
	}
}

// Split sets x_i and y_i to pairs_2i and pairs_2i+1. It panics if the lengths do not fit.
func Split(pairs, x, y []fixed.Q43) {
	inPairs(len(x), len(y), len(pairs), func(i, n int) { vectorSplit(n, (*int64)(&pairs[2*i]), (*int64)(&x[i]), (*int64)(&y[i])) },
		func(i int) { x[i], y[i] = pairs[2*i], pairs[2*i+1] })
}

// AddPairs adds x_i and y_i to pairs_2i and pairs_2i+1, or subtracts them if sign is negative. It panics if
// the lengths do not fit.
func AddPairs(sign int, x, y, pairs []fixed.Q43) {
	inPairs(len(x), len(y), len(pairs), func(i, n int) {
		vectorAddPairs(n, (*int64)(&x[i]), (*int64)(&y[i]), (*int64)(&pairs[2*i]), sign>>(bitsOfInt-1))
	}, func(i int) {
		pairs[2*i] += number.Signed(sign, x[i])
		pairs[2*i+1] += number.Signed(sign, y[i])
	})
}

// inPairs calls vector for n numbers from i on, with n a multiple of 8, and one for the others.
func inPairs(n, other, pairs int, vector func(i, n int), one func(i int)) {
	if n != other || pairs != 2*n {
		panic(badLength)
	}
	i := 0
	if tier == cpu.AVX512 {
		for whole := n &^ 7; i < whole; i += cpu.Chunk {
			vector(i, cpu.ChunkAt(i, whole))
		}
		i = n &^ 7
	}
	for ; i < n; i++ {
		one(i)
	}
}
