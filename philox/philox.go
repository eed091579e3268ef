// Package philox has random numbers that are a function of a seed and an index. You can therefore
// compute any of them without those before, in any order and on any machine. Package cuda fills
// vectors on a GPU with the same bits.
//
// The generator is Philox4x32-10 of J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, Parallel
// random numbers: as easy as 1, 2, 3, SC11, 2011. Its key is the seed, low word first. Its counter
// is i/2 for numbers i and i+1, with i even, low word first. Number i is the first two words of the
// result, and number i+1 the other two, again with the low word first.
//
// It passes statistical tests, but is not for cryptography.
package philox

import (
	"math/bits"

	"revnum/fixed"
)

// A Source is a rand.Source of math/rand/v2. Its value is its state: copy it to repeat numbers, and
// set Next to go anywhere. The zero value is ready for use.
type Source struct {
	Seed uint64
	Next uint64 // the index of the next number
}

// Uint64 returns the next number. After 2⁶⁴ of them they repeat.
func (s *Source) Uint64() uint64 {
	v := pair(s.Seed, s.Next/2)[s.Next%2]
	s.Next++
	return v
}

// Uniform sets the elements of x to uniform numbers in [0, 1): x_j to the one that belongs to number
// first+j of the seed. It is a multiple of 2⁻⁵³ for float64, of 2⁻²⁴ for float32 and of 2⁻⁴³ for Q43.
// Those of floats have the bits that Float64 and Float32 of rand.Rand make of a Source. Uniform, Normal and a Source
// use the same numbers of a seed: give each a seed or indices of its own. Uniform numbers of different types are no
// roundings of each other.
func Uniform[T fixed.Number](x []T, seed, first uint64) {
	each(x, seed, first, func(w [2]uint64) [2]T { return [2]T{uniform[T](w[0]), uniform[T](w[1])} })
}

func uniform[T fixed.Number](w uint64) T {
	var v T
	switch p := any(&v).(type) {
	case *float64:
		*p = float64(w<<11>>11) / (1 << 53)
	case *float32:
		*p = float32(w<<8>>40) / (1 << 24)
	case *fixed.Q43:
		*p = fraction(w)
	}
	return v
}

// fraction returns the low bits of w, as a number in [0, 1).
func fraction(w uint64) fixed.Q43 { return fixed.Q43(w % uint64(fixed.One)) }

// Normal sets the elements of x to independent standard normal numbers: x_j to Φ⁻¹(u + 2⁻⁵⁴), where u is the number
// first+j that Uniform makes for float64, and Φ is the normal distribution. It therefore grows with u.
//
// A number is within 7·10⁻¹⁵ of this quantile. It has the same bits on every machine: the quantile is a polynomial in
// float64, with coefficients from a table, and float32 and Q43 round its value once more. The distribution of numbers of
// float64 is within 2.3·10⁻¹⁵ of the normal one. (Of these, 2⁻⁵⁴ is because u is a multiple of 2⁻⁵³.) Magnitudes are up to
// 8.2924. A true normal number is larger with a probability of 2⁻⁵³.
func Normal[T fixed.Number](x []T, seed, first uint64) {
	each(x, seed, first, func(w [2]uint64) [2]T { return [2]T{rounded[T](normal(w[0])), rounded[T](normal(w[1]))} })
}

func rounded[T fixed.Number](z float64) T {
	if T(1)/2 != 0 {
		return T(z)
	}
	return T(fixed.FromFloat64(z))
}

// each sets x to what f makes of pairs of numbers, from number first on.
func each[T any](x []T, seed, first uint64, f func([2]uint64) [2]T) {
	n := len(x)
	odd := int(first % 2)
	for j := 0; j < n+odd; j += 2 {
		v := f(pair(seed, (first/2+uint64(j/2))%(1<<63)))
		if j >= odd {
			x[j-odd] = v[0]
		}
		if j-odd+1 < n {
			x[j-odd+1] = v[1]
		}
	}
}

// pair returns numbers 2i and 2i+1.
func pair(seed, i uint64) [2]uint64 {
	c := block([4]uint32{uint32(i), uint32(i >> 32)}, [2]uint32{uint32(seed), uint32(seed >> 32)})
	return [2]uint64{uint64(c[1])<<32 | uint64(c[0]), uint64(c[3])<<32 | uint64(c[2])}
}

// block is Philox4x32-10.
func block(c [4]uint32, key [2]uint32) [4]uint32 {
	for range 10 {
		hi0, lo0 := bits.Mul32(0xd2511f53, c[0])
		hi1, lo1 := bits.Mul32(0xcd9e8d57, c[2])
		c = [4]uint32{hi1 ^ c[1] ^ key[0], lo1, hi0 ^ c[3] ^ key[1], lo0}
		key[0] += 0x9e3779b9 // the golden ratio
		key[1] += 0xbb67ae85 // √3 - 1
	}
	return c
}
