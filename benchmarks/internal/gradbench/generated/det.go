package generated

import "math/bits"

// Det is the determinant of the n×n matrix a, expanded by minors.
//
//revgen:gradient a
func Det(a []float64, n int) float64 { return minor(a, n, 1<<n-1) }

// minor is the determinant of some columns of a, a bit for each, and of as many of its first rows. It is
// expanded along the first row.
func minor(a []float64, n int, columns uint) float64 {
	rest, count := columns, bits.OnesCount(columns)
	if count == 1 {
		return a[bits.TrailingZeros(rest)]
	}
	sum, sign := 0.0, 1.0
	for range count {
		j := bits.TrailingZeros(rest)
		sum += sign * a[j] * minor(a[n:], n, columns&^(1<<j))
		sign = -sign
		rest &= rest - 1
	}
	return sum
}

// minors computes minors of the matrix a. d(S), for a set S of columns, is the minor of these
// columns and of as many last rows. S is a number with a bit for each column, and first[S] is
// the first of these rows. Laplace's expansion along it is
//
//	d(S) += Σ_{j∈S} ±a_{first[S],j}·d(S∖j),  where the signs alternate over S.
//
// With d(∅) = 1 and zeros elsewhere, the last element of d becomes the determinant.
//
//revgen:kernel Minors[T rev.Real]
func minors(d []float64, a [][]float64, first []int) {
	if len(d) != len(first) {
		panic("shape")
	}
	for set := 1; set < len(d); set++ {
		sign := 1.0
		for j := range len(a) {
			rest := set &^ (1 << j)
			if rest != set {
				d[set] += sign * a[first[set]][j] * d[rest]
				sign = -sign
			}
		}
	}
}
