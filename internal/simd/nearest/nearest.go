// Package nearest holds the vector loops of k-means and of searches in package num:
// which centres are nearest to points, and sums of the points of each centre.
//
// In the searches, points lie along the lanes of a vector: coordinate j of point p is
// points[j*ld+p]. Centre k is c[k*d:(k+1)*d]. The number of points must be a multiple
// of Width. Values of a centre stay in registers until they are compared.
package nearest

import "revnum/internal/simd/cpu"

//go:generate go run ./_gen

// tier is the vector code in use.
var tier = cpu.InUse()

// Width divides the number of points in a search.
const Width = 16

// A call of assembly takes one group of centres, or more if they have at most resident
// numbers, which stay in the cache. It makes about most products at most.
const (
	group    = 8
	resident = 2048
	most     = 1 << 21
)

const (
	badWidth    = "nearest: number of points is not a multiple of Width"
	badDim      = "nearest: dimension below 1"
	shortState  = "nearest: insufficient length of dists, second or label"
	shortPoints = "nearest: insufficient length of points"
	shortC      = "nearest: insufficient length of c"
	shortX      = "nearest: insufficient length of x, label or w"
	badLabel    = "nearest: label out of range"
)

// Two computes the values
//
//	v_k = halves[k] - Σ_j c_kj·x_j
//
// of each point. best and second are the least two values of the point so far, and Two
// updates them. If v_k becomes the least, the label becomes first+k. Of equal values, the
// lowest k wins. Two may fuse products, so tiers may differ by rounding. The result is
// unspecified if a value is NaN.
func Two[T cpu.Float](best, second, label, points []T, ld int, c, halves []T, d, first int) {
	n, k := len(best), len(halves)
	if n == 0 || k == 0 {
		return
	}
	check(n, len(second), len(label), len(points), ld, len(c), k, d)
	if tier == cpu.Generic {
		genericTwo(best, second, label, points, ld, c, halves, d, first)
		return
	}
	rows, cols := chunk(d)
	for q := 0; q < k; q += rows {
		for p := 0; p < n; p += cols {
			vectorTwo(&best[p], &second[p], &label[p], &points[p], ld, min(cols, n-p), &c[q*d], &halves[q], min(rows, k-q), d, T(first+q))
		}
	}
}

// One computes the squared distances
//
//	v_k = Σ_j (x_j - c_kj)²
//
// of each point. best is the least distance so far, and One updates it. If v_k becomes the
// least, the label becomes first+k. Of equal distances, the lowest k wins. Each operation is
// rounded by itself and sums are in order, so all tiers and a plain loop give the same bits.
// A NaN changes nothing.
func One(best, label, points []float64, ld int, c []float64, d, first int) {
	n := len(best)
	if n == 0 || len(c) == 0 {
		return
	}
	k := len(c) / max(d, 1)
	check(n, n, len(label), len(points), ld, len(c), k, d)
	if tier == cpu.Generic {
		genericOne(best, label, points, ld, c, d, first)
		return
	}
	rows, cols := chunk(d)
	for q := 0; q < k; q += rows {
		for p := 0; p < n; p += cols {
			vectorOne(&best[p], &label[p], &points[p], ld, min(cols, n-p), &c[q*d], min(rows, k-q), d, float64(first+q))
		}
	}
}

func check(n, second, label, points, ld, c, k, d int) {
	switch {
	case n%Width != 0:
		panic(badWidth)
	case d < 1:
		panic(badDim)
	case second < n || label < n:
		panic(shortState)
	case ld < n || points < (d-1)*ld+n:
		panic(shortPoints)
	case c < k*d:
		panic(shortC)
	}
}

// chunk returns the numbers of centres and points for a call of assembly.
func chunk(d int) (rows, cols int) {
	rows = max(resident/d&^(group-1), group)
	return rows, max(most/(rows*d)&^(Width-1), Width)
}

// AddRows adds w_i·(x_i - b) to s for each point i < len(label). s and b are row label[i]
// of sums and of base, whose rows are ld apart. Rows have d elements. Point i is
// x[i*ldx:i*ldx+d]. If w is nil, all weights are 1. Each operation is rounded by itself, and
// points are added in order.
func AddRows(sums, base []float64, ld int, label []int32, x []float64, ldx, d int, w []float64) {
	n := len(label)
	if n == 0 || d <= 0 {
		return
	}
	if w != nil && len(w) < n {
		panic(shortX)
	}
	checkRows(min(len(sums), len(base)), ld, label, len(x), ldx, d)
	if tier == cpu.Generic {
		genericAddRows(sums, base, ld, label, x, ldx, d, w)
		return
	}
	first, step := &unweighted, 0
	for i, most := 0, max(1, most/64/d); i < n; i += most {
		if w != nil {
			first, step = &w[i], 1
		}
		vectorAddRows(&sums[0], &base[0], ld, &label[i], &x[i*ldx], ldx, min(most, n-i), d, first, step)
	}
}

var unweighted = 1.0

// Distances sets dists[i] to ‖x_i - c_k‖² for each point i < len(label), where k = label[i]
// and rows of c are ld apart. Rows have d elements. Point i is x[i*ldx:i*ldx+d]. Tiers round
// sums differently.
func Distances(dists, c []float64, ld int, label []int32, x []float64, ldx, d int) {
	n := len(label)
	if n == 0 {
		return
	}
	if len(dists) < n {
		panic(shortState)
	}
	if d <= 0 {
		clear(dists[:n])
		return
	}
	checkRows(len(c), ld, label, len(x), ldx, d)
	if tier == cpu.Generic {
		genericDistances(dists, c, ld, label, x, ldx, d)
		return
	}
	for i, most := 0, max(1, most/64/d); i < n; i += most {
		vectorDistances(&dists[i], &c[0], ld, &label[i], &x[i*ldx], ldx, min(most, n-i), d)
	}
}

// SubRound computes dst[i] = x[i] - c, rounded to float64 and then to float32. The length of
// dst must be a multiple of Width.
func SubRound(dst []float32, x []float64, c float64) {
	n := len(dst)
	switch {
	case n%Width != 0:
		panic(badWidth)
	case len(x) < n:
		panic(shortX)
	case tier == cpu.Generic:
		genericSubRound(dst, x, c)
		return
	}
	for i, most := 0, most/64; i < n; i += most {
		vectorSubRound(&dst[i], &x[i], min(most, n-i), c)
	}
}

func checkRows(rows, ld int, label []int32, x, ldx, d int) {
	if ldx < 0 || x < (len(label)-1)*ldx+d {
		panic(shortX)
	}
	for _, k := range label {
		if k < 0 || int(k)*ld+d > rows {
			panic(badLabel)
		}
	}
}
