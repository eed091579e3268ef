package vec

import "revnum/internal/simd/cpu"

// Split computes re_i = Re z_i and im_i = Im z_i.
func Split(re, im []float64, z []complex128) {
	if len(re) != len(z) || len(im) != len(z) {
		panic(badLength)
	}
	for i := eights(len(z), func(i, n int) { vectorSplit(&re[i], &im[i], &z[i], n) }); i < len(z); i++ {
		re[i], im[i] = real(z[i]), imag(z[i])
	}
}

// AddParts computes z_i += complex(re_i, im_i).
func AddParts(z []complex128, re, im []float64) {
	if len(re) != len(z) || len(im) != len(z) {
		panic(badLength)
	}
	for i := eights(len(z), func(i, n int) { vectorAddParts(&z[i], &re[i], &im[i], n) }); i < len(z); i++ {
		z[i] += complex(re[i], im[i])
	}
}

// eights calls vector for as many of n elements as it can, from element i on. These are a multiple of
// 8, and eights returns their number.
func eights(n int, vector func(i, n int)) int {
	if tier == cpu.Generic {
		return 0
	}
	n &^= 7
	for i := 0; i < n; i += cpu.Chunk {
		vector(i, cpu.ChunkAt(i, n))
	}
	return n
}
