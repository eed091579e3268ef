// Package byhand has loops written by hand for one type, without a kernel. Package numbers compares kernels with them.
package byhand

import (
	"math"
	"math/bits"

	"revnum/fixed"
	"revnum/ulog"
)

// DotFloat64 is the dot product.
func DotFloat64(x, y []float64) float64 {
	var s float64
	y = y[:len(x)]
	for i, v := range x {
		s += float64(v * y[i])
	}
	return s
}

// DotRounded rounds every product, which is faster.
func DotRounded(x, y []fixed.Q43) fixed.Q43 {
	var s fixed.Q43
	y = y[:len(x)]
	for i, v := range x {
		s += v.Mul(y[i])
	}
	return s
}

// DotExact adds up in 128 bits.
func DotExact(x, y []fixed.Q43) fixed.Q43 {
	var hi, lo, c uint64
	y = y[:len(x)]
	for i, v := range x {
		w := y[i]
		h, l := bits.Mul64(uint64(v), uint64(w))
		lo, c = bits.Add64(lo, l, 0)
		hi += h + c - uint64(v>>63&w) - uint64(w>>63&v)
	}
	// Add half a unit for rounding. Ties are ignored.
	lo, c = bits.Add64(lo, 1<<(fixed.FracBits-1), 0)
	return fixed.Q43((hi+c)<<(64-fixed.FracBits) | lo>>fixed.FracBits)
}

// MulFloat64 is the product of n×n matrices, row by row of b.
func MulFloat64(c, a, b []float64, n int) {
	for i := range n {
		ci := c[i*n : (i+1)*n]
		for l, v := range a[i*n : (i+1)*n] {
			bl := b[l*n:][:len(ci)]
			for j := range ci {
				ci[j] += float64(v * bl[j])
			}
		}
	}
}

// MulRounded rounds every product.
func MulRounded(c, a, b []fixed.Q43, n int) {
	for i := range n {
		ci := c[i*n : (i+1)*n]
		for l, v := range a[i*n : (i+1)*n] {
			bl := b[l*n:][:len(ci)]
			for j := range ci {
				ci[j] += v.Mul(bl[j])
			}
		}
	}
}

// LogMulRow is a row of a product of matrices of logarithmic numbers, element
// by element.
func LogMulRow(c, a, b []ulog.Float64) {
	for j := range c {
		c[j] = ulog.Float64{Log: math.Inf(-1)}
	}
	for l, v := range a {
		for j, w := range b[l*len(c) : (l+1)*len(c)] {
			c[j] = c[j].Add(v.Mul(w))
		}
	}
}
