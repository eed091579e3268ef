// Package pairs holds vector loops over pairs of points: those of one point with many
// others, and those of a triangle (AllPairs). Points are the columns of a matrix x
// that is stored by rows: coordinate i of point p is x[i*ld+p]. The one point is c.
//
// The vector tiers (see package cpu) fuse products with the sums they go into, and
// AVX-512 rounds roots in steps of its own: the tiers differ in the last bits.
package pairs

import (
	"math"

	"revnum/internal/simd/cpu"
)

//go:generate go -C ../../../../internal/simd/_gen run ./vec -pairs -out ../../../revmodels/graphembed/internal/pairs/zpairs_amd64.s -stubs ../../../revmodels/graphembed/internal/pairs/zpairs_amd64.go -pkg pairs

// tier is the vector code in use.
var tier = cpu.InUse()

const (
	badLength  = "pairs: slice lengths do not match"
	badLdX     = "pairs: bad leading dimension of x"
	shortDst   = "pairs: insufficient length of dst"
	shortX     = "pairs: insufficient length of x"
	shortKinds = "pairs: insufficient bits of kinds"
)

// Kinds tells elements of two kinds apart, and those that are of neither:
// element p is of kind k if bit p%8 of Kinds[k][p/8] is 1. Both slices must have
// 16 bits for each 16 elements that begin, and no element both kinds.
type Kinds [2][]byte

// Distances computes dst[p] = √(Σ_i (x[i,p] - c[i])²) for i < len(c), where row i
// of x begins at i*ldx. Squares overflow and underflow; up to that, the relative
// error is at most len(c)+4 units of rounding.
func Distances[T cpu.Float](dst, x []T, ldx int, c []T) {
	checkPairs(len(dst), len(c), len(x), ldx)
	if len(c) == 0 {
		clear(dst)
		return
	}
	if len(dst) > 0 {
		distances(dst, x, ldx, c)
	}
}

// InvDistances computes what Distances does, and stores 1/dst[p], or 0 where
// that is infinite.
func InvDistances[T cpu.Float](dst, x []T, ldx int, c []T) {
	checkPairs(len(dst), len(c), len(x), ldx)
	if len(c) == 0 {
		clear(dst)
		return
	}
	if len(dst) > 0 {
		invDistances(dst, x, ldx, c)
	}
}

// DiffDots computes dst[p] = Σ_i (x[i,p] - c[i])·(y[i,p] - e[i]) for i < len(c),
// where row i of x and of y begins at i*ld.
func DiffDots[T cpu.Float](dst, x []T, ld int, c, y, e []T) {
	checkPairs(len(dst), len(c), min(len(x), len(y)), ld)
	if len(e) != len(c) {
		panic(badLength)
	}
	if len(c) == 0 {
		clear(dst)
		return
	}
	if len(dst) > 0 {
		diffDots(dst, x, ld, c, y, e)
	}
}

// AddDiffs takes four points q at once, of which c has the coordinates one after
// the other. With d = w[q,p]·(x[i,p] - c[q,i]) it computes
//
//	dst[i,p] += Σ_q d    sums[q,i] += Σ_p d
//
// for all coordinates i and p < n, where row i of dst and of x begins at i*ld,
// and row q of w at q*ldw. What lies between rows is not touched.
func AddDiffs[T cpu.Float](n int, dst, x []T, ld int, c, w []T, ldw int, sums []T) {
	rows := len(c) / 4
	checkPairs(n, rows, len(x), ld)
	if len(c) != 4*rows || len(sums) != len(c) {
		panic(badLength)
	}
	checkPairs(n, 4, len(w), ldw)
	if n == 0 || rows == 0 {
		return
	}
	if len(dst) < n || (len(dst)-n)/ld < rows-1 {
		panic(shortDst)
	}
	addDiffs(n, dst, x, ld, c, w, ldw, sums)
}

// KindSums returns the sums over each kind of x_p - origin, and of its square.
func KindSums[T cpu.Float](x []T, kinds Kinds, origin [2]T) (sums, squares [2]T) {
	checkKinds(len(x), kinds)
	if len(x) > 0 {
		sums, squares = kindSums(x, kinds, origin)
	}
	return sums, squares
}

// KindAffine computes dst[p] = add + mul·x[p], with add and mul of the kind of
// p, and 0 if it has none.
func KindAffine[T cpu.Float](dst, x []T, kinds Kinds, add, mul [2]T) {
	if len(x) != len(dst) {
		panic(badLength)
	}
	checkKinds(len(x), kinds)
	if len(x) > 0 {
		kindAffine(dst, x, kinds, add, mul)
	}
}

// KindDistances returns what KindSums returns for the n distances that Distances
// computes.
func KindDistances[T cpu.Float](n int, x []T, ldx int, c []T, kinds Kinds, origin [2]T) (sums, squares [2]T) {
	checkPairs(n, len(c), len(x), ldx)
	checkKinds(n, kinds)
	if len(c) == 0 {
		return genericKindDistances(n, x, ldx, c, kinds, origin)
	}
	if n > 0 {
		sums, squares = kindDistances(n, x, ldx, c, kinds, origin)
	}
	return sums, squares
}

// KindInvDistances is InvDistances followed by KindAffine.
func KindInvDistances[T cpu.Float](dst, x []T, ldx int, c []T, kinds Kinds, add, mul [2]T) {
	checkPairs(len(dst), len(c), len(x), ldx)
	checkKinds(len(dst), kinds)
	if len(c) == 0 {
		genericKindInvDistances(dst, x, ldx, c, kinds, add, mul)
		return
	}
	if len(dst) > 0 {
		kindInvDistances(dst, x, ldx, c, kinds, add, mul)
	}
}

// checkPairs panics if rows of n elements do not fit into x.
func checkPairs(n, rows, lenX, ldx int) {
	switch {
	case n < 0 || ldx < max(1, n):
		panic(badLdX)
	case n == 0 || rows == 0:
	case lenX < n || (lenX-n)/ldx < rows-1:
		panic(shortX)
	}
}

func checkKinds(n int, kinds Kinds) {
	if bytes := (n + 15) / 16 * 2; len(kinds[0]) < bytes || len(kinds[1]) < bytes {
		panic(shortKinds)
	}
}

func genericDistances[T cpu.Float](dst, x []T, ldx int, c []T) {
	for p := range dst {
		var s T
		for i, ci := range c {
			d := x[i*ldx+p] - ci
			s += T(d * d)
		}
		dst[p] = T(math.Sqrt(float64(s)))
	}
}

func genericInvDistances[T cpu.Float](dst, x []T, ldx int, c []T) {
	genericDistances(dst, x, ldx, c)
	for i, v := range dst {
		if v != 0 {
			dst[i] = 1 / v
		}
	}
}

func genericDiffDots[T cpu.Float](dst, x []T, ld int, c, y, e []T) {
	for p := range dst {
		var s T
		for i, ci := range c {
			s += T((x[i*ld+p] - ci) * (y[i*ld+p] - e[i]))
		}
		dst[p] = s
	}
}

func genericAddDiffs[T cpu.Float](n int, dst, x []T, ld int, c, w []T, ldw int, sums []T) {
	rows := len(c) / 4
	for i, ci := range c {
		q, row := i/rows, i%rows
		d, r := dst[row*ld:][:n], x[row*ld:][:n]
		var s T
		for p, wp := range w[q*ldw:][:n] {
			t := T(wp * (r[p] - ci))
			d[p] += t
			s += t
		}
		sums[i] += s
	}
}

// of returns the kind of element p, or -1.
func (k Kinds) of(p int) int {
	for i, bits := range k {
		if bits[p/8]>>(p%8)&1 == 1 {
			return i
		}
	}
	return -1
}

func genericKindSums[T cpu.Float](x []T, kinds Kinds, origin [2]T) (sums, squares [2]T) {
	for p, v := range x {
		if k := kinds.of(p); k >= 0 {
			e := v - origin[k]
			sums[k] += e
			squares[k] += T(e * e)
		}
	}
	return sums, squares
}

func genericKindAffine[T cpu.Float](dst, x []T, kinds Kinds, add, mul [2]T) {
	for p, v := range x {
		dst[p] = 0
		if k := kinds.of(p); k >= 0 {
			dst[p] = add[k] + T(mul[k]*v)
		}
	}
}

func genericKindDistances[T cpu.Float](n int, x []T, ldx int, c []T, kinds Kinds, origin [2]T) (sums, squares [2]T) {
	var block [64]T
	for p := 0; p < n; p += len(block) {
		d := block[:min(len(block), n-p)]
		var from []T
		if len(c) > 0 {
			from = x[p:]
		}
		genericDistances(d, from, ldx, c)
		sum, square := genericKindSums(d, Kinds{kinds[0][p/8:], kinds[1][p/8:]}, origin)
		for k := range sums {
			sums[k] += sum[k]
			squares[k] += square[k]
		}
	}
	return sums, squares
}

func genericKindInvDistances[T cpu.Float](dst, x []T, ldx int, c []T, kinds Kinds, add, mul [2]T) {
	genericInvDistances(dst, x, ldx, c)
	genericKindAffine(dst, dst, kinds, add, mul)
}
