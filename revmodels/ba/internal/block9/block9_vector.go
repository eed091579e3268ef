//go:build amd64 && !noasm

package block9

import "revnum/internal/simd/cpu"

// schurMost is how many blocks or Jacobians a call of assembly takes at most,
// each of which may have to come from memory.
const schurMost = 256

func subProducts9(blocks []float64, which []int32, a, b []float64) {
	if tier == cpu.Generic {
		genericSubProducts9(blocks, which, a, b)
		return
	}
	for k := 0; k < len(which); k += schurMost {
		n := min(schurMost, len(which)-k)
		if tier == cpu.AVX512 {
			subProducts9AVX512(&blocks[0], &which[k], n, &a[0], &b[27*k])
		} else {
			subProducts9AVX2(&blocks[0], &which[k], n, &a[0], &b[27*k])
		}
	}
}

func addNormal9(block, g, j, r []float64, which []int) {
	if tier == cpu.Generic {
		genericAddNormal9(block, g, j, r, which)
		return
	}
	for k := 0; k < len(which); k += schurMost {
		n := min(schurMost, len(which)-k)
		if tier == cpu.AVX512 {
			addNormal9AVX512(&block[0], &g[0], &j[0], &r[0], &which[k], n)
		} else {
			addNormal9AVX2(&block[0], &g[0], &j[0], &r[0], &which[k], n)
		}
	}
}
