package simd

import "math"

// Loops over the pairs of one point with many others. The points are the
// columns of a matrix x that is stored by rows: coordinate i of point p is
// x[i*ld+p]. The one point is c.

// InvTo computes dst_i = 1/x_i, and 0 where x_i is 0.
func InvTo[T Float](dst, x []T) {
	if len(x) != len(dst) {
		panic(badLength)
	}
	invTo(dst, x)
}

// Distances computes dst[p] = √(Σ_i (x[i,p] - c[i])²) for i < len(c), where row i
// of x begins at i*ldx. Squares are rounded before they are added, in the order
// of i; they overflow and underflow.
func Distances[T Float](dst, x []T, ldx int, c []T) {
	checkPairs(len(dst), len(c), len(x), ldx)
	if len(c) == 0 {
		clear(dst)
		return
	}
	if len(dst) > 0 {
		distances(dst, x, ldx, c)
	}
}

// DiffDots computes dst[p] = Σ_i (x[i,p] - c[i])·(y[i,p] - e[i]) for i < len(c),
// where row i of x and of y begins at i*ld. Products are rounded before they are
// added, in the order of i.
func DiffDots[T Float](dst, x []T, ld int, c, y, e []T) {
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

// AddDiffs computes dst[i,p] += d and sums[i] += Σ_p d, d = w[p]·(x[i,p] - c[i]),
// for i < len(c) and p < len(w), where row i of dst and of x begins at i*ld. What
// lies between rows is not touched. Products are rounded before they are added.
func AddDiffs[T Float](dst, x []T, ld int, c, w, sums []T) {
	checkPairs(len(w), len(c), len(x), ld)
	if len(sums) != len(c) {
		panic(badLength)
	}
	if len(w) == 0 || len(c) == 0 {
		return
	}
	if len(dst) < len(w) || (len(dst)-len(w))/ld < len(c)-1 {
		panic(shortDst)
	}
	addDiffs(dst, x, ld, c, w, sums)
}

// checkPairs panics if rows of n elements do not fit into x.
func checkPairs(n, rows, lenX, ldx int) {
	switch {
	case ldx < max(1, n):
		panic(badLdX)
	case n == 0 || rows == 0:
	case lenX < n || (lenX-n)/ldx < rows-1:
		panic(shortX)
	}
}

func genericInvTo[T Float](dst, x []T) {
	for i, v := range x {
		if v == 0 {
			dst[i] = 0
		} else {
			dst[i] = 1 / v
		}
	}
}

func genericDistances[T Float](dst, x []T, ldx int, c []T) {
	for p := range dst {
		var s T
		for i, ci := range c {
			d := x[i*ldx+p] - ci
			s += T(d * d)
		}
		dst[p] = T(math.Sqrt(float64(s)))
	}
}

func genericDiffDots[T Float](dst, x []T, ld int, c, y, e []T) {
	for p := range dst {
		var s T
		for i, ci := range c {
			s += T((x[i*ld+p] - ci) * (y[i*ld+p] - e[i]))
		}
		dst[p] = s
	}
}

func genericAddDiffs[T Float](dst, x []T, ld int, c, w, sums []T) {
	for i, ci := range c {
		d, r := dst[i*ld:][:len(w)], x[i*ld:][:len(w)]
		var s T
		for p, wp := range w {
			t := T(wp * (r[p] - ci))
			d[p] += t
			s += t
		}
		sums[i] += s
	}
}
