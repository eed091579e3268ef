package fft

import (
	"math"

	"revnum/internal/simd/cpu"
)

// The costs below are about tenths of cycles of a processor with AVX-512.

// infinite is the cost of a length with a prime factor above most.
const infinite = math.MaxInt

// call is the cost of a call of assembly.
const call = 400

// bestSplit returns the number of rows of columns for a transform of length n > 1, and the cost.
// On the generic tier all numbers are in one column.
func bestSplit(n int) (n1, least int) {
	switch {
	case radices(n, tier) == nil:
		return 0, infinite
	case tier == cpu.Generic:
		const inGo = 8 // times the cost of a block
		return n, inGo * columnCost(n)
	}
	n1, least = n, splitCost(n, 1)
	for d := 2; d*d <= n; d++ {
		if n%d != 0 {
			continue
		}
		for _, d := range [...]int{d, n / d} {
			if c := splitCost(d, n/d); c < least {
				n1, least = d, c
			}
		}
	}
	return n1, least
}

// bestConvolution returns the length of a convolution for a transform of length n, and the cost.
func bestConvolution(n int) (m, least int) {
	least = infinite
	for _, of := range [...]int{8, 9, 10, 12, 14, 15} {
		for of < 2*n-1 || of%8 != 0 {
			of *= 2
		}
		_, c := bestSplit(of)
		if c = 2*c + 40*of; c < least {
			m, least = of, c
		}
	}
	return m, least
}

func splitCost(n1, n2 int) int {
	lanes := cpu.Lanes[float64](tier)
	g1, g2 := groups(n1, lanes), groups(n2, lanes)
	inner := columnCost(n1)
	inner += inner / 10 // its rows lie apart
	c := g2 * (inner + partialCost(n1, n2, lanes))
	if n2 == 1 {
		return c
	}
	return c + g2*(call+60*g1*lanes) + g1*(columnCost(n2)+partialCost(n2, n1, lanes))
}

// partialCost is the cost of a pass of radix 1, where the columns do not fill a group.
func partialCost(n, cols, lanes int) int {
	if cols >= lanes {
		return 0
	}
	return 30*n + call
}

// columnCost is the cost of the passes over a group of n rows.
func columnCost(n int) int {
	all, c := radices(n, tier), 0
	for _, r := range all {
		switch {
		case r == 8:
			c += 55
		case r < 5:
			c += 40
		case hasPass(r, tier):
			c += 20 + 6*r
		default:
			c += 40 + 12*r
		}
	}
	switch { // what does not fit the caches
	case n > 2048:
		c *= 4
	case n > 1024:
		c *= 2
	case n > 256:
		c += c * 6 / 10
	case n > 64:
		c += c * 4 / 10
	}
	return c*n + call*len(all)
}
