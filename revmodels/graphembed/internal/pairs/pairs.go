// Package pairs holds vector loops over pairs of points: of one point with many
// others, and of all points of a triangle (AllPairs). Points are the columns of a matrix x
// that is stored by rows: coordinate i of point p is x[i*ld+p]. The one point is c.
//
// The vector tiers (see package cpu) fuse products with sums, and AVX-512 rounds roots
// in its own way. The tiers therefore differ in the last bits.
package pairs

import "revnum/internal/simd/cpu"

//go:generate go run ./_gen

// tier is the vector code in use.
var tier = cpu.InUse()

const (
	badDim     = "pairs: no vector code for Dim coordinates"
	badLength  = "pairs: slice lengths do not match"
	badLdX     = "pairs: bad leading dimension of x"
	shortDst   = "pairs: insufficient length of dst"
	shortX     = "pairs: insufficient length of x"
	shortKinds = "pairs: insufficient bits of kinds"
)

// Kinds divides elements into two kinds and a rest. Element p has kind k if bit p%8 of
// Kinds[k][p/8] is 1. Both slices must have 16 bits for each 16 elements that begin,
// and no element may have both kinds.
type Kinds [2][]byte

// Distances computes dst[p] = √(Σ_i (x[i,p] - c[i])²) for i < len(c). Row i of x begins
// at i*ldx. Squares may overflow and underflow. Otherwise the relative error is at most
// len(c)+4 units of rounding.
func Distances[T cpu.Float](dst, x []T, ldx int, c []T) { distances(false, dst, x, ldx, c) }

// InvDistances stores the inverses of what Distances computes, 1/dst[p], or 0 if the
// inverse is infinite.
func InvDistances[T cpu.Float](dst, x []T, ldx int, c []T) { distances(true, dst, x, ldx, c) }

func distances[T cpu.Float](inverse bool, dst, x []T, ldx int, c []T) {
	checkPairs(len(dst), len(c), len(x), ldx)
	if len(c) == 0 {
		clear(dst)
		return
	}
	if tier == cpu.Generic {
		genericDistances(inverse, dst, x, ldx, c)
		return
	}
	most := pairChunk(len(c))
	for p := 0; p < len(dst); p += most {
		n := min(most, len(dst)-p)
		if inverse {
			vectorInvDistances(n, &dst[p], &x[p], ldx, &c[0], len(c))
		} else {
			vectorDistances(n, &dst[p], &x[p], ldx, &c[0], len(c))
		}
	}
}

// DiffDots computes dst[p] = Σ_i (x[i,p] - c[i])·(y[i,p] - e[i]) for i < len(c). Row i
// of x and of y begins at i*ld.
func DiffDots[T cpu.Float](dst, x []T, ld int, c, y, e []T) {
	checkPairs(len(dst), len(c), min(len(x), len(y)), ld)
	if len(e) != len(c) {
		panic(badLength)
	}
	if len(c) == 0 {
		clear(dst)
		return
	}
	if tier == cpu.Generic {
		genericDiffDots(dst, x, ld, c, y, e)
		return
	}
	most := pairChunk(len(c))
	for p := 0; p < len(dst); p += most {
		n := min(most, len(dst)-p)
		vectorDiffDots(n, &dst[p], &x[p], ld, &c[0], &y[p], &e[0], len(c))
	}
}

// AddDiffs handles four points q at once. c has their coordinates one after the other.
// With d = w[q,p]·(x[i,p] - c[q,i]) it computes
//
//	dst[i,p] += Σ_q d    sums[q,i] += Σ_p d
//
// for all coordinates i and p < n. Row i of dst and of x begins at i*ld, and row q of w
// at q*ldw. It does not touch elements between rows.
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
	if tier == cpu.Generic {
		genericAddDiffs(n, dst, x, ld, c, w, ldw, sums)
		return
	}
	most := pairChunk(len(c))
	for p := 0; p < n; p += most {
		m := min(most, n-p)
		vectorAddDiffs(m, &dst[p], &x[p], ld, &c[0], &w[p], ldw, &sums[0], rows)
	}
}

// KindSums returns the sums over each kind of x_p - origin, and of its square.
func KindSums[T cpu.Float](x []T, kinds Kinds, origin [2]T) (sums, squares [2]T) {
	checkKinds(len(x), kinds)
	if tier == cpu.Generic {
		return genericKindSums(x, kinds, origin)
	}
	var part [4]T
	for p := 0; p < len(x); p += cpu.Chunk {
		n := cpu.ChunkAt(p, len(x))
		vectorKindSums(n, &x[p], &kinds[0][p/8], &kinds[1][p/8], &origin[0], &part[0])
		for k := range sums {
			sums[k] += part[k]
			squares[k] += part[2+k]
		}
	}
	return sums, squares
}

// KindAffine computes dst[p] = add + mul·x[p] with the add and mul of the kind of p, or
// 0 if p has no kind.
func KindAffine[T cpu.Float](dst, x []T, kinds Kinds, add, mul [2]T) {
	if len(x) != len(dst) {
		panic(badLength)
	}
	checkKinds(len(x), kinds)
	if tier == cpu.Generic {
		genericKindAffine(dst, x, kinds, add, mul)
		return
	}
	for p := 0; p < len(x); p += cpu.Chunk {
		n := cpu.ChunkAt(p, len(x))
		vectorKindAffine(n, &dst[p], &x[p], &kinds[0][p/8], &kinds[1][p/8], &add[0], &mul[0])
	}
}

// KindDistances returns KindSums of the n distances that Distances computes.
func KindDistances[T cpu.Float](n int, x []T, ldx int, c []T, kinds Kinds, origin [2]T) (sums, squares [2]T) {
	checkPairs(n, len(c), len(x), ldx)
	checkKinds(n, kinds)
	if tier == cpu.Generic || len(c) == 0 {
		return genericKindDistances(n, x, ldx, c, kinds, origin)
	}
	var part [4]T
	most := pairChunk(len(c))
	for p := 0; p < n; p += most {
		m := min(most, n-p)
		vectorKindDistances(m, &x[p], ldx, &c[0], len(c), &kinds[0][p/8], &kinds[1][p/8], &origin[0], &part[0])
		for k := range sums {
			sums[k] += part[k]
			squares[k] += part[2+k]
		}
	}
	return sums, squares
}

// KindInvDistances is InvDistances followed by KindAffine.
func KindInvDistances[T cpu.Float](dst, x []T, ldx int, c []T, kinds Kinds, add, mul [2]T) {
	checkPairs(len(dst), len(c), len(x), ldx)
	checkKinds(len(dst), kinds)
	if tier == cpu.Generic || len(c) == 0 {
		genericKindInvDistances(dst, x, ldx, c, kinds, add, mul)
		return
	}
	most := pairChunk(len(c))
	for p := 0; p < len(dst); p += most {
		n := min(most, len(dst)-p)
		vectorKindInvDistances(n, &dst[p], &x[p], ldx, &c[0], len(c), &kinds[0][p/8], &kinds[1][p/8], &add[0], &mul[0])
	}
}

// pairChunk returns the largest number of points for a call of assembly: those with
// chunk coordinates, where a square root counts as several. It is a multiple of 8.
func pairChunk(rows int) int { return max(8, cpu.Chunk/(rows+4)&^7) }

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
