package vec

import "revnum/internal/simd/cpu"

//go:generate go run ./_gen

// tier is the vector code in use.
var tier = cpu.InUse()

const (
	badLength = "vec: slice lengths do not match"
	badN      = "vec: n < 0"
	badLdDst  = "vec: bad leading dimension of dst"
	badLdX    = "vec: bad leading dimension of x"
	shortDst  = "vec: insufficient length of dst"
	shortX    = "vec: insufficient length of x"
)

// Axpy computes y_i += alpha·x_i.
func Axpy[T cpu.Float](alpha T, x, y []T) { AxpyTo(y, alpha, x, y) }

// SubColumn computes dst[i,p] = x[i,p] - c[i] for i < len(c) and p < n. Row i of dst
// begins at i*ldd, and row i of x at i*ldx. It does not touch memory between rows.
func SubColumn[T cpu.Float](n int, dst []T, ldd int, x []T, ldx int, c []T) {
	subColumn(n, dst, ldd, x, ldx, c, nil)
}

// CenterScale computes dst[i,p] = (x[i,p] - c[i])·s[p] for p < len(s), and is otherwise like
// SubColumn.
func CenterScale[T cpu.Float](dst []T, ldd int, x []T, ldx int, c, s []T) {
	subColumn(len(s), dst, ldd, x, ldx, c, s)
}

// subColumn is CenterScale, or SubColumn if s is nil.
func subColumn[T cpu.Float](n int, dst []T, ldd int, x []T, ldx int, c, s []T) {
	checkRows(n, len(c), len(dst), ldd, len(x), ldx)
	switch {
	case n == 0 || len(c) == 0:
		return
	case tier == cpu.Generic && s == nil:
		genericSubColumn(n, dst, ldd, x, ldx, c)
		return
	case tier == cpu.Generic:
		genericCenterScale(dst, ldd, x, ldx, c, s)
		return
	}
	most := max(1, cpu.Chunk/n)
	for i := 0; i < len(c); i += most {
		rows := min(most, len(c)-i)
		for p := 0; p < n; p += cpu.Chunk {
			if s == nil {
				vectorSubColumn(cpu.ChunkAt(p, n), &dst[i*ldd+p], ldd, &x[i*ldx+p], ldx, &c[i], rows)
			} else {
				vectorCenterScale(cpu.ChunkAt(p, n), &dst[i*ldd+p], ldd, &x[i*ldx+p], ldx, &c[i], &s[p], rows)
			}
		}
	}
}

// checkRows panics if rows of n elements do not fit into dst or x.
func checkRows(n, rows, lenDst, ldd, lenX, ldx int) {
	switch {
	case n < 0:
		panic(badN)
	case ldd < max(1, n):
		panic(badLdDst)
	case ldx < max(1, n):
		panic(badLdX)
	case n == 0 || rows == 0:
	// These are divisions because a product could overflow.
	case lenDst < n || (lenDst-n)/ldd < rows-1:
		panic(shortDst)
	case lenX < n || (lenX-n)/ldx < rows-1:
		panic(shortX)
	}
}

// SinCos computes the sines and cosines of x, in radians. They are within 1.5 units
// in the last place, and have the same bits on all tiers. Those of infinities are
// NaN. One of sin and cos may be x.
func SinCos[T cpu.Float](sin, cos, x []T) {
	if len(sin) != len(x) || len(cos) != len(x) {
		panic(badLength)
	}
	if tier == cpu.Generic {
		genericSinCos(sin, cos, x)
		return
	}
	const (
		most   = 1 << 10
		vector = 8 // elements, or half of them
	)
	for i := 0; i < len(x); {
		n := min(most, len(x)-i)
		done := vectorSinCos(n, &sin[i], &cos[i], &x[i])
		i += min(done, n)
		if done < n { // the next vector has an element that is too large for it
			end := min(i+vector, len(x))
			genericSinCos(sin[i:end], cos[i:end], x[i:end])
			i = end
		}
	}
}
