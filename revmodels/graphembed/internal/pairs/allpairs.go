package pairs

import "revnum/internal/simd/cpu"

//go:generate go -C ../../../../internal/simd/_gen run ./allpairs ../../../revmodels/graphembed/internal/pairs

// AllPairs are the pairs of an even number of points, one a row, with those of N
// columns that come later. Row q is paired with columns From+q, From+q+1, ..., N-1; From may
// be negative.
//
// Coordinate i of column p is X[i*Ld+p], and that of row q is C[q*Dim+i]. A pair
// is near, of kind 1, if bit p%8 of Near[q*LdNear+p/8] is 1, else of kind 0. Rows
// of Near have 16 bits for each 16 columns that begin.
//
// Squares of distances overflow. A distance counts as 2⁻⁵¹⁰ (2⁻⁶² for float32)
// if it is less.
type AllPairs[T cpu.Float] struct {
	Dim, N, From int
	X            []T
	Ld           int
	C            []T
	Near         []byte
	LdNear       int
}

// AllPairsFast reports whether there is vector code in use for points of dim
// coordinates. KindDistances, KindInvDistances and AddDiffs do the same in more
// steps, and for those that have none are faster.
func AllPairsFast(dim int) bool { return tier == cpu.AVX512 && 0 < dim && dim <= mostDim }

// mostDim is the most coordinates that the assembly is unrolled for.
const mostDim = 8

// Moments returns the sums over each kind of distance - origin, and of its
// square.
func (a *AllPairs[T]) Moments(origin [2]T) (sums, squares [2]T) {
	rows := a.check()
	if !AllPairsFast(a.Dim) {
		return a.genericMoments(origin)
	}
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

// AddForces computes, with d the distance of a pair and w = add + mul/d by its
// kind,
//
//	dst[i,p] += Σ_q w·(X[i,p] - C[q,i])    own[q,i] += Σ_p w·(X[i,p] - C[q,i])
//
// where row i of dst begins at i*Ld, and q of own at q*Dim. What lies between rows
// is not touched.
func (a *AllPairs[T]) AddForces(add, mul [2]T, dst, own []T) {
	rows := a.check()
	switch {
	case len(own) != len(a.C):
		panic(badLength)
	case rows > 0 && (len(dst) < a.N || (len(dst)-a.N)/a.Ld < a.Dim-1):
		panic(shortDst)
	case !AllPairsFast(a.Dim):
		a.genericAddForces(add, mul, dst, own)
		return
	}
	for q, rows := range a.calls(rows) {
		for p := 0; p < a.N; p += cpu.Chunk {
			vectorAddPairForces(a, q, rows, p, cpu.ChunkAt(p, a.N), &add[0], &mul[0], &dst[p], &own[q*a.Dim])
		}
	}
}

// check panics unless the operands fit, and returns the number of rows, 0 if
// there are no columns.
func (a *AllPairs[T]) check() (rows int) {
	if a.Dim < 1 || len(a.C)%(2*a.Dim) != 0 {
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

// calls yields the first row of each call of assembly and how many it takes: as
// many as have a chunk of pairs.
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
