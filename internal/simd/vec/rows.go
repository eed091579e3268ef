package vec

import (
	"math"

	"revnum/internal/simd/cpu"
)

// MaxRows computes top[i] = max x[i,p] for i < len(top) and p < n, as Max does. Row i of x begins at i*ldx.
func MaxRows[T cpu.Float](n int, x []T, ldx int, top []T) {
	checkRows(n, len(top), math.MaxInt, max(1, n), len(x), ldx)
	if oneByOne(n, top, T(math.Inf(-1)), func(i int) T { return Max(x[i*ldx:][:n]) }) {
		return
	}
	inChunks(n, len(top), func(i, rows, _, n int) { vectorMaxRows(n, &x[i*ldx], ldx, &top[i], rows) })
}

// DotRows computes sum[i] = Σ x[i,p]·y[i,p] for i < len(sum) and p < n, with the bits of Dot. Row i of x begins at
// i*ldx, and row i of y at i*ldy. Rows may overlap: if ldx is 0, all of them are x.
func DotRows[T cpu.Float](n int, x []T, ldx int, y []T, ldy int, sum []T) {
	checkRead(n, len(sum), len(x), ldx)
	checkRead(n, len(sum), len(y), ldy)
	if oneByOne(n, sum, 0, func(i int) T { return Dot(x[i*ldx:][:n], y[i*ldy:][:n]) }) {
		return
	}
	inChunks(n, len(sum), func(i, rows, _, n int) { vectorDotRows(n, &x[i*ldx], ldx, &y[i*ldy], ldy, &sum[i], rows) })
}

// SumRows computes sum[i] = Σ x[i,p] for i < len(sum) and p < n, with the bits of Sum. Row i of x begins at i*ldx. Rows
// may overlap.
func SumRows[T cpu.Float](n int, x []T, ldx int, sum []T) {
	checkRead(n, len(sum), len(x), ldx)
	if oneByOne(n, sum, 0, func(i int) T { return Sum(x[i*ldx:][:n]) }) {
		return
	}
	inChunks(n, len(sum), func(i, rows, _, n int) { vectorSumRows(n, &x[i*ldx], ldx, &sum[i], rows) })
}

// SumSquaresRows computes sum[i] = Σ x[i,p]² for i < len(sum) and p < n, with the bits of SumSquares. Row i of x begins
// at i*ldx. Rows may overlap.
func SumSquaresRows[T cpu.Float](n int, x []T, ldx int, sum []T) {
	checkRead(n, len(sum), len(x), ldx)
	if oneByOne(n, sum, 0, func(i int) T { return SumSquares(x[i*ldx:][:n]) }) {
		return
	}
	inChunks(n, len(sum), func(i, rows, _, n int) { vectorSumSquaresRows(n, &x[i*ldx], ldx, &sum[i], rows) })
}

// oneByOne sets each dst[i] to of(i), or to empty if rows have no elements, where no vector code takes several rows of n
// elements. It reports whether it has done so.
func oneByOne[T cpu.Float](n int, dst []T, empty T, of func(i int) T) bool {
	if n > 0 && n <= cpu.Chunk && tier != cpu.Generic {
		return false
	}
	for i := range dst {
		if dst[i] = empty; n > 0 {
			dst[i] = of(i)
		}
	}
	return true
}

// checkRead panics if rows of n elements, which may overlap, do not fit into x.
func checkRead(n, rows, lenX, ldx int) {
	switch {
	case n < 0:
		panic(badN)
	case ldx < 0:
		panic(badLdX)
	case n > 0 && rows > 0 && (lenX < n || ldx > 0 && (lenX-n)/ldx < rows-1):
		panic(shortX)
	}
}

// AxpyRows computes dst[i,p] += c[i]·x[i,p] for i < len(c) and p < n, with the bits of Axpy. Row i of dst begins
// at i*ldd, and row i of x at i*ldx: if ldx is 0, all of them are x. It does not touch memory between rows.
func AxpyRows[T cpu.Float](n int, dst []T, ldd int, x []T, ldx int, c []T) {
	if ldx != 0 {
		checkRows(n, len(c), len(dst), ldd, len(x), ldx)
	} else {
		checkRows(n, len(c), len(dst), ldd, math.MaxInt, max(1, n))
		x = x[:max(n, 0)]
	}
	if n == 0 || tier == cpu.Generic {
		for i, ci := range c {
			if n > 0 {
				Axpy(ci, x[i*ldx:][:n], dst[i*ldd:][:n])
			}
		}
		return
	}
	inChunks(n, len(c), func(i, rows, p, n int) { vectorAxpyRows(n, &dst[i*ldd+p], ldd, &x[i*ldx+p], ldx, &c[i], rows) })
}

// ExpRows computes dst[i,p] = exp(x[i,p] - c[i]) and sum[i] = Σ_p dst[i,p] for i < len(c) = len(sum) and p < n. It
// computes the differences and exponentials in T. Vector code adds at most two exponentials in float32, and these sums
// in float64, but rounds the sum of each cpu.Chunk elements of a row to T, and adds these in T. Pure Go adds all in
// float64. Row i of dst begins at i*ldd, and row i of x at i*ldx. ExpRows does not touch memory between rows.
func ExpRows[T cpu.Float](n int, dst []T, ldd int, x []T, ldx int, c, sum []T) {
	checkRows(n, len(c), len(dst), ldd, len(x), ldx)
	if len(sum) != len(c) {
		panic(badLength)
	}
	clear(sum)
	switch {
	case n == 0:
	case tier == cpu.Generic:
		genericExpRows(n, dst, ldd, x, ldx, c, sum)
	default:
		inChunks(n, len(c), func(i, rows, p, n int) {
			vectorExpRows(n, &dst[i*ldd+p], ldd, &x[i*ldx+p], ldx, &c[i], &sum[i], rows)
		})
	}
}

func genericExpRows[T cpu.Float](n int, dst []T, ldd int, x []T, ldx int, c, sum []T) {
	for i, ci := range c {
		var s float64
		d := dst[i*ldd:][:n]
		for p, v := range x[i*ldx:][:n] {
			if cpu.Is64[T]() {
				d[p] = T(exp64(float64(v - ci)))
			} else {
				d[p] = T(exp32(float32(v - ci)))
			}
			s += float64(d[p])
		}
		sum[i] = T(s)
	}
}

// AddSquares computes dst[p] += (q[i]·(x[i,p] - c[i]))² for i < len(c) = len(q) and p < len(dst), one row after the
// other. It rounds each operation. Row i of x begins at i*ldx.
func AddSquares[T cpu.Float](dst, x []T, ldx int, c, q []T) {
	n := len(dst)
	checkRead(n, len(c), len(x), ldx)
	switch {
	case len(q) != len(c):
		panic(badLength)
	case n == 0:
	case tier == cpu.Generic:
		for i, ci := range c {
			for p, v := range x[i*ldx:][:n] {
				t := q[i] * (v - ci)
				dst[p] += T(t * t)
			}
		}
	default:
		inChunks(n, len(c), func(i, rows, p, n int) { vectorAddSquares(n, &dst[p], &x[i*ldx+p], ldx, &c[i], &q[i], rows) })
	}
}

// AddMoments computes m1[i] += Σ_p w[p]·(x[i,p] - c[i]) and m2[i] += Σ_p w[p]·(x[i,p] - c[i])² for i < len(c) =
// len(m1) = len(m2) and p < len(w). Row i of x begins at i*ldx. c is finite: vector code may add
// 0·(x - c[i]) beyond p, which is NaN for an infinite c.
func AddMoments[T cpu.Float](w, x []T, ldx int, c, m1, m2 []T) {
	n := len(w)
	checkRead(n, len(c), len(x), ldx)
	switch {
	case len(m1) != len(c) || len(m2) != len(c):
		panic(badLength)
	case n == 0:
	case tier == cpu.Generic:
		for i, ci := range c {
			var s1, s2 T
			for p, v := range x[i*ldx:][:n] {
				t := v - ci
				s1 += T(w[p] * t)
				s2 += T(T(w[p]*t) * t)
			}
			m1[i] += s1
			m2[i] += s2
		}
	default:
		inChunks(n, len(c), func(i, rows, p, n int) {
			vectorAddMoments(n, &w[p], &x[i*ldx+p], ldx, &c[i], &m1[i], &m2[i], rows)
		})
	}
}

// inChunks calls run for parts of a matrix of rows by n > 0 columns: some rows from i on, and some columns from p on.
func inChunks(n, rows int, run func(i, rows, p, n int)) {
	most := max(1, cpu.Chunk/n)
	for i := 0; i < rows; i += most {
		for p := 0; p < n; p += cpu.Chunk {
			run(i, min(most, rows-i), p, cpu.ChunkAt(p, n))
		}
	}
}
