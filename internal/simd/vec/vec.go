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

// DotFar is Dot, to the bit. It takes less time for vectors that are in no cache near the processor, and a little more for
// others, if their length is a multiple of 64.
func DotFar[T cpu.Float](x, y []T) T {
	const turn = 64 // a multiple of what a turn of the loop takes
	if n := len(x); tier == cpu.AVX512 && n == len(y) && n > 0 && n <= cpu.Chunk && n%turn == 0 {
		return vectorDotFar(n, &x[0], &y[0])
	}
	return Dot(x, y)
}

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
	inChunks(n, len(c), func(i, rows, p, n int) {
		if s == nil {
			vectorSubColumn(n, &dst[i*ldd+p], ldd, &x[i*ldx+p], ldx, &c[i], rows)
		} else {
			vectorCenterScale(n, &dst[i*ldd+p], ldd, &x[i*ldx+p], ldx, &c[i], &s[p], rows)
		}
	})
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

// Sin computes dst_i = sin(x_i). In float64 it is within 1.5 units in the last place, as that of
// SinCos, but it has other bits.
func Sin[T cpu.Float](dst, x []T) {
	angles(dst, x, func(lo, hi int) { genericSin(dst[lo:hi], x[lo:hi]) },
		func(lo, n int) int { return vectorSin(n, &dst[lo], &x[lo]) })
}

// Cos computes dst_i = cos(x_i), and is otherwise like Sin.
func Cos[T cpu.Float](dst, x []T) {
	angles(dst, x, func(lo, hi int) { genericCos(dst[lo:hi], x[lo:hi]) },
		func(lo, n int) int { return vectorCos(n, &dst[lo], &x[lo]) })
}

// Tan computes y_i = tan(x_i), and the derivative d_i = 1 + y_i².
func Tan[T cpu.Float](y, d, x []T) {
	if len(d) != len(x) {
		panic(badLength)
	}
	angles(y, x, func(lo, hi int) { genericTan(y[lo:hi], d[lo:hi], x[lo:hi]) },
		func(lo, n int) int { return vectorTan(n, &y[lo], &d[lo], &x[lo]) })
}

// AddTan computes dst_i += sign·tan(x_i) for a sign of 1 or -1.
func AddTan[T cpu.Float](dst []T, sign T, x []T) {
	angles(dst, x, func(lo, hi int) { genericAddTan(dst[lo:hi], sign, x[lo:hi]) },
		func(lo, n int) int { return vectorAddTan(n, &dst[lo], sign, &x[lo]) })
}

// AddSin computes dst_i += sign·sin(x_i) for a sign of 1 or -1.
func AddSin[T cpu.Float](dst []T, sign T, x []T) {
	angles(dst, x, func(lo, hi int) { genericAddSin(dst[lo:hi], sign, x[lo:hi]) },
		func(lo, n int) int { return vectorAddSin(n, &dst[lo], sign, &x[lo]) })
}

// AddCos computes dst_i += sign·cos(x_i) for a sign of 1 or -1.
func AddCos[T cpu.Float](dst []T, sign T, x []T) {
	angles(dst, x, func(lo, hi int) { genericAddCos(dst[lo:hi], sign, x[lo:hi]) },
		func(lo, n int) int { return vectorAddCos(n, &dst[lo], sign, &x[lo]) })
}

// AddSinProduct computes dst_i += sign·sin(x_i)·from_i for a sign of 1 or -1. The product is
// rounded.
func AddSinProduct[T cpu.Float](dst []T, sign T, x, from []T) {
	from = from[:len(x)]
	angles(dst, x, func(lo, hi int) { genericAddSinProduct(dst[lo:hi], sign, x[lo:hi], from[lo:hi]) },
		func(lo, n int) int { return vectorAddSinProduct(n, &dst[lo], sign, &x[lo], &from[lo]) })
}

// AddCosProduct computes dst_i += sign·cos(x_i)·from_i, and is otherwise like AddSinProduct.
func AddCosProduct[T cpu.Float](dst []T, sign T, x, from []T) {
	from = from[:len(x)]
	angles(dst, x, func(lo, hi int) { genericAddCosProduct(dst[lo:hi], sign, x[lo:hi], from[lo:hi]) },
		func(lo, n int) int { return vectorAddCosProduct(n, &dst[lo], sign, &x[lo], &from[lo]) })
}

// angles calls vector for n elements from lo on, which returns how many it did before an element
// that is too large for it, and generic for such elements.
func angles[T cpu.Float](dst, x []T, generic func(lo, hi int), vector func(lo, n int) int) {
	if len(dst) != len(x) {
		panic(badLength)
	}
	if tier == cpu.Generic {
		generic(0, len(x))
		return
	}
	const group = 16
	for i := 0; i < len(x); {
		n := min(cpu.Chunk, len(x)-i)
		done := vector(i, n)
		i += min(done, n)
		if done < n {
			end := min(i+group, len(x))
			generic(i, end)
			i = end
		}
	}
}

// Above returns the index of the first element of x that is not above bound, which must be below 1,
// or len(x).
func Above[T cpu.Float](x []T, bound T) int {
	return prefix(x, func(n int, x *T) int { return vectorAbove(n, x, bound) }, func(v T) bool { return v > bound })
}

// Nonzero returns the index of the first element of x that is 0, or len(x).
func Nonzero[T cpu.Float](x []T) int {
	return prefix(x, vectorNonzero[T], func(v T) bool { return v != 0 })
}

// Smaller returns the index of the first element of x that is NaN or whose magnitude is not below
// bound, or len(x).
func Smaller[T cpu.Float](x []T, bound T) int {
	return prefix(x, func(n int, x *T) int { return vectorSmaller(n, x, bound) }, func(v T) bool { return -bound < v && v < bound })
}

// prefix returns the index of the first element that is not good. vector stops before a group that
// has one.
func prefix[T cpu.Float](x []T, vector func(n int, x *T) int, good func(v T) bool) int {
	i := 0
	for tier != cpu.Generic && i < len(x) {
		n := min(cpu.Chunk, len(x)-i)
		done := vector(n, &x[i])
		if i += min(done, n); done < n {
			break
		}
	}
	for i < len(x) && good(x[i]) {
		i++
	}
	return i
}
