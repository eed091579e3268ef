package pairs

import (
	"math"

	"revnum/internal/simd/cpu"
)

//go:generate go -C ../../../../internal/simd/_gen run ./allpairs -out ../../../revmodels/graphembed/internal/pairs/zallpairs_amd64.s -stubs ../../../revmodels/graphembed/internal/pairs/zallpairs_amd64.go -pkg pairs

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
func AllPairsFast(dim int) bool { return allPairsFast(dim) }

// Moments returns the sums over each kind of distance - origin, and of its
// square.
func (a *AllPairs[T]) Moments(origin [2]T) (sums, squares [2]T) {
	if rows := a.check(); rows > 0 {
		return a.moments(rows, origin)
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
	if len(own) != len(a.C) {
		panic(badLength)
	}
	if rows == 0 {
		return
	}
	if len(dst) < a.N || (len(dst)-a.N)/a.Ld < a.Dim-1 {
		panic(shortDst)
	}
	a.addForces(rows, add, mul, dst, own)
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

// genericEach runs f for each pair, with its distance and kind.
func (a *AllPairs[T]) genericEach(f func(q, p, kind int, d T)) {
	least := math.Sqrt(tiny[T]())
	for q := range len(a.C) / a.Dim {
		for p := max(0, a.From+q); p < a.N; p++ {
			var s T
			for i, c := range a.C[q*a.Dim:][:a.Dim] {
				d := a.X[i*a.Ld+p] - c
				s += T(d * d)
			}
			f(q, p, int(a.Near[q*a.LdNear+p/8]>>(p%8)&1), T(max(least, math.Sqrt(float64(s)))))
		}
	}
}

// tiny is what the square of a distance is at least.
func tiny[T cpu.Float]() float64 {
	if cpu.Is64[T]() {
		return 0x1p-1020
	}
	return 0x1p-124
}

func (a *AllPairs[T]) genericMoments(origin [2]T) (sums, squares [2]T) {
	a.genericEach(func(_, _, kind int, d T) {
		e := d - origin[kind]
		sums[kind] += e
		squares[kind] += T(e * e)
	})
	return sums, squares
}

func (a *AllPairs[T]) genericAddForces(add, mul [2]T, dst, own []T) {
	a.genericEach(func(q, p, kind int, d T) {
		w := add[kind] + mul[kind]/d
		for i := range a.Dim {
			f := T(w * (a.X[i*a.Ld+p] - a.C[q*a.Dim+i]))
			dst[i*a.Ld+p] += f
			own[q*a.Dim+i] += f
		}
	})
}
