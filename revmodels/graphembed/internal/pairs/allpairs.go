package pairs

import "revnum/internal/simd/cpu"

// AllPairs pairs an even number of points, the rows, with N points, the columns. Row q is
// paired with columns From+q, From+q+1, ..., N-1. From may be negative.
//
// Coordinate i of column p is X[i*Ld+p], and coordinate i of row q is C[q*Dim+i]. A pair is near,
// of kind 1, if bit p%8 of Near[q*LdNear+p/8] is 1. Otherwise it is of kind 0. A row of
// Near has 16 bits for each 16 columns, rounded up.
//
// Squares of distances may overflow. A distance below 2⁻⁵¹⁰ (2⁻⁶² for float32) counts as
// that number.
type AllPairs[T cpu.Float] struct {
	Dim, N, From int
	X            []T
	Ld           int
	C            []T
	Near         []byte
	LdNear       int
}

// AllPairsFast reports whether the tier in use has AllPairs for points of dim coordinates.
// Otherwise KindDistances, KindInvDistances and AddDiffs do the same in more steps.
func AllPairsFast(dim int) bool { return tier == cpu.AVX512 && 0 < dim && dim <= mostDim }

// mostDim is the largest number of coordinates for which there is assembly.
const mostDim = 8

// Moments returns, for each kind, the sums of distance - origin and of its square.
func (a *AllPairs[T]) Moments(origin [2]T) (sums, squares [2]T) {
	rows := a.check()
	var part [4]T
	for q, rows := range a.calls(rows) {
		for p := 0; p < a.N; p += cpu.Chunk {
			vectorPairMoments(a, q, rows, p, cpu.ChunkAt(p, a.N), &origin[0], &part[0])
			for k := range sums {
				sums[k] += part[k]
				squares[k] += part[2+k]
			}
		}
	}
	return sums, squares
}

// AddForces computes
//
//	dst[i,p] += Σ_q w·(X[i,p] - C[q,i])    own[q,i] += Σ_p w·(X[i,p] - C[q,i])
//
// where w = add + mul/d, d is the distance of the pair, and add and mul belong to its
// kind. Row i of dst begins at i*Ld, and row q of own at q*Dim. AddForces does not touch
// elements between rows.
func (a *AllPairs[T]) AddForces(add, mul [2]T, dst, own []T) {
	rows := a.check()
	switch {
	case len(own) != len(a.C):
		panic(badLength)
	case rows > 0 && (len(dst) < a.N || (len(dst)-a.N)/a.Ld < a.Dim-1):
		panic(shortDst)
	}
	for q, rows := range a.calls(rows) {
		for p := 0; p < a.N; p += cpu.Chunk {
			vectorAddPairForces(a, q, rows, p, cpu.ChunkAt(p, a.N), &add[0], &mul[0], &dst[p], &own[q*a.Dim])
		}
	}
}

// check panics unless the operands fit. It returns the number of rows, or 0 if there are
// no columns.
func (a *AllPairs[T]) check() (rows int) {
	switch {
	case !AllPairsFast(a.Dim):
		panic(badDim)
	case len(a.C)%(2*a.Dim) != 0:
		panic(badLength)
	}
	checkPairs(a.N, a.Dim, len(a.X), a.Ld)
	rows = len(a.C) / a.Dim
	bytes := (a.N + 15) / 16 * 2
	switch {
	case rows == 0 || a.N == 0:
		return 0
	case a.LdNear < 0 || len(a.Near) < bytes || rows > 1 && a.LdNear > 0 && (len(a.Near)-bytes)/a.LdNear < rows-1:
		panic(shortKinds)
	}
	return rows
}

// calls yields, for each call of assembly, the first row and the number of rows. A call
// takes about a chunk of pairs.
func (a *AllPairs[T]) calls(rows int) func(yield func(q, rows int) bool) {
	most := max(2, cpu.Chunk/max(1, a.N)&^1)
	return func(yield func(q, rows int) bool) {
		for q := 0; q < rows; q += most {
			if !yield(q, min(most, rows-q)) {
				return
			}
		}
	}
}
