package fixedpoint

import (
	"math/bits"

	"revnum/fixed"
	"revnum/internal/simd/cpu"
)

// Max returns the largest number, or fixed.Min for none.
func Max(x []fixed.Q43) fixed.Q43 {
	most := fixed.Min
	if tier != cpu.AVX512 {
		for _, v := range x {
			most = max(most, v)
		}
		return most
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		most = max(most, fixed.Q43(vectorLargest(cpu.ChunkAt(i, len(x)), (*int64)(&x[i]))))
	}
	return most
}

// ExactSum returns the sum in two words, with a sign, and whether fixed.Min is among the numbers.
func ExactSum(x []fixed.Q43) (hi, lo uint64, hasLeast bool) {
	var carry uint64
	if tier != cpu.AVX512 {
		for _, v := range x {
			lo, carry = bits.Add64(lo, uint64(v), 0)
			hi += uint64(v>>63) + carry
			hasLeast = hasLeast || v == fixed.Min
		}
		return hi, lo, hasLeast
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		var sums [2][8]uint64
		hasLeast = vectorSumWords(cpu.ChunkAt(i, len(x)), (*int64)(&x[i]), &sums[0][0]) || hasLeast
		addSums(&hi, &lo, &sums)
	}
	return hi, lo, hasLeast
}

// ExactSumPowers returns what ExactSum does for the products a_i·x_i, each rounded to nearest with ties to even, and
// not wrapped, and whether fixed.Min is among x. It panics if the lengths differ.
func ExactSumPowers(a, x []fixed.Q43) (hi, lo uint64, hasLeast bool) {
	if len(a) != len(x) {
		panic(badLength)
	}
	if tier != cpu.AVX512 {
		for i, v := range x {
			top, whole := bits.Mul64(absolute(v), absolute(a[i]))
			whole, carry := bits.Add64(whole, 1<<(fixed.FracBits-1)-1+whole>>fixed.FracBits&1, 0)
			top += carry
			whole, top = top<<(64-fixed.FracBits)|whole>>fixed.FracBits, top>>fixed.FracBits
			if v^a[i] < 0 {
				whole, carry = bits.Sub64(0, whole, 0)
				top = -top - carry
			}
			lo, carry = bits.Add64(lo, whole, 0)
			hi += top + carry
			hasLeast = hasLeast || v == fixed.Min
		}
		return hi, lo, hasLeast
	}
	var minusHi, minusLo uint64
	for i := 0; i < len(x); i += cpu.Chunk {
		var sums [2][2][8]uint64
		hasLeast = vectorSumPowers(cpu.ChunkAt(i, len(x)), (*int64)(&x[i]), (*int64)(&a[i]), &sums[0][0][0]) || hasLeast
		addSums(&hi, &lo, &sums[0])
		addSums(&minusHi, &minusLo, &sums[1])
	}
	lo, borrow := bits.Sub64(lo, minusLo, 0)
	return hi - minusHi - borrow, lo, hasLeast
}

// absolute returns |x|.
func absolute(x fixed.Q43) uint64 { return uint64(max(x, -x)) }

// SumExp returns Σ e^(x_i-most), the sum of integers of 128 bits with 90 bits after the point, for the first
// numbers, and how many these are. It leaves out fixed.Min, which is the log of zero, and x_i more than 63 below
// most. most is the largest x_i. The steps are those of package ulog, which has plain Go for the others. The
// table is that of ulog: 2^(j/32) and what is left of it.
func SumExp(x []fixed.Q43, most fixed.Q43, table *[32][2]float64) (hi, lo uint64, done int) {
	if tier != cpu.AVX512 {
		return 0, 0, 0
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		var sums [2][8]uint64
		vectorSumExp(cpu.ChunkAt(i, len(x)), (*int64)(&x[i]), int64(most), &table[0][0], &sums[0][0])
		addSums(&hi, &lo, &sums)
	}
	return hi, lo, len(x)
}

// addSums adds the low and the high words of sums.
func addSums(hi, lo *uint64, sums *[2][8]uint64) {
	for lane, v := range sums[0] {
		var carry uint64
		*lo, carry = bits.Add64(*lo, v, 0)
		*hi += sums[1][lane] + carry
	}
}
