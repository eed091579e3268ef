package vec

import "revnum/internal/simd/cpu"

//go:generate go -C ../_gen run ./vec ../vec

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

// Dot returns Σ x_i·y_i.
func Dot[T cpu.Float](x, y []T) T {
	if len(x) != len(y) {
		panic(badLength)
	}
	return dot(x, y)
}

// Sum returns Σ x_i.
func Sum[T cpu.Float](x []T) T { return sum(x) }

// SumSquares returns Σ x_i². It overflows and underflows as the squares do. Scale x
// if that may happen.
func SumSquares[T cpu.Float](x []T) T { return sumSquares(x) }

// Max returns the largest element of x. It returns -Inf if x is empty, and NaN if
// any element is NaN. +0 is larger than -0.
func Max[T cpu.Float](x []T) T { return maxOf(x) }

// Axpy computes y_i += alpha·x_i.
func Axpy[T cpu.Float](alpha T, x, y []T) {
	if len(x) != len(y) {
		panic(badLength)
	}
	axpyTo(y, alpha, x, y)
}

// AxpyTo computes dst_i = alpha·x_i + y_i.
func AxpyTo[T cpu.Float](dst []T, alpha T, x, y []T) {
	if len(x) != len(dst) || len(y) != len(dst) {
		panic(badLength)
	}
	axpyTo(dst, alpha, x, y)
}

// AddTo computes dst_i = x_i + y_i.
func AddTo[T cpu.Float](dst, x, y []T) {
	if len(x) != len(dst) || len(y) != len(dst) {
		panic(badLength)
	}
	addTo(dst, x, y)
}

// MulTo computes dst_i = x_i·y_i.
func MulTo[T cpu.Float](dst, x, y []T) {
	if len(x) != len(dst) || len(y) != len(dst) {
		panic(badLength)
	}
	mulTo(dst, x, y)
}

// MaxTo computes dst_i = max(x_i, y_i). It is NaN if either is NaN. +0 is larger
// than -0.
func MaxTo[T cpu.Float](dst, x, y []T) {
	if len(x) != len(dst) || len(y) != len(dst) {
		panic(badLength)
	}
	maxTo(dst, x, y)
}

// ScaleTo computes dst_i = alpha·x_i.
func ScaleTo[T cpu.Float](dst []T, alpha T, x []T) {
	if len(x) != len(dst) {
		panic(badLength)
	}
	scaleTo(dst, alpha, x)
}

// AffineMax computes x_i = scale·x_i + shift, and then top_i = max(top_i, x_i) as
// MaxTo does. The product is rounded before the sum.
func AffineMax[T cpu.Float](x, top []T, scale, shift T) {
	if len(top) != len(x) {
		panic(badLength)
	}
	affineMax(x, top, scale, shift)
}

// SubColumn computes dst[i,p] = x[i,p] - c[i] for i < len(c) and p < n. Row i of dst
// begins at i*ldd, and row i of x at i*ldx. It does not touch memory between rows.
func SubColumn[T cpu.Float](n int, dst []T, ldd int, x []T, ldx int, c []T) {
	checkRows(n, len(c), len(dst), ldd, len(x), ldx)
	if n == 0 || len(c) == 0 {
		return
	}
	if tier == cpu.Generic {
		genericSubColumn(n, dst, ldd, x, ldx, c)
		return
	}
	most := max(1, cpu.Chunk/n)
	for i := 0; i < len(c); i += most {
		rows := min(most, len(c)-i)
		for p := 0; p < n; p += cpu.Chunk {
			vectorSubColumn(cpu.ChunkAt(p, n), &dst[i*ldd+p], ldd, &x[i*ldx+p], ldx, &c[i], rows)
		}
	}
}

// CenterScale computes dst[i,p] = (x[i,p] - c[i])·s[p] for i < len(c) and p <
// len(s). Row i of dst begins at i*ldd, and row i of x at i*ldx. It does not touch
// memory between rows.
func CenterScale[T cpu.Float](dst []T, ldd int, x []T, ldx int, c, s []T) {
	n := len(s)
	checkRows(n, len(c), len(dst), ldd, len(x), ldx)
	if n == 0 || len(c) == 0 {
		return
	}
	if tier == cpu.Generic {
		genericCenterScale(dst, ldd, x, ldx, c, s)
		return
	}
	most := max(1, cpu.Chunk/n)
	for i := 0; i < len(c); i += most {
		rows := min(most, len(c)-i)
		for p := 0; p < n; p += cpu.Chunk {
			vectorCenterScale(cpu.ChunkAt(p, n), &dst[i*ldd+p], ldd, &x[i*ldx+p], ldx, &c[i], &s[p], rows)
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

// Exp computes dst_i = exp(x_i).
func Exp[T cpu.Float](dst, x []T) {
	if len(x) != len(dst) {
		panic(badLength)
	}
	expTo(dst, x)
}

// ExpSubTo computes dst_i = exp(x_i - y_i). It computes the difference in float64.
func ExpSubTo[T cpu.Float](dst, x, y []T) {
	if len(x) != len(dst) || len(y) != len(dst) {
		panic(badLength)
	}
	expSubTo(dst, x, y)
}

// ExpSubAdd computes x_i = exp(x_i - y_i) and then sum_i += x_i. It computes the
// difference and the sum in float64.
func ExpSubAdd[T cpu.Float](x, y, sum []T) {
	if len(y) != len(x) || len(sum) != len(x) {
		panic(badLength)
	}
	expSubAdd(x, y, sum)
}

// ExpShiftSum computes dst_i = exp(x_i - shift) and returns their sum. It computes
// the difference and the sum in float64.
func ExpShiftSum[T cpu.Float](dst, x []T, shift T) T {
	if len(x) != len(dst) {
		panic(badLength)
	}
	return T(expShiftSum(dst, x, shift))
}

// SumExp returns the sum of ExpShiftSum, Σ exp(x_i - shift), and stores nothing.
//
// On the vector tiers it prefetches the 1024 elements behind x, if there are any. Scan a
// slice in pieces of 1024, and find the maximum of each piece before its sum. The next piece
// is then in cache.
func SumExp[T cpu.Float](x []T, shift T) T { return T(sumExp(x, shift)) }

// Log computes dst_i = log(x_i). The result is -Inf for zeros, and NaN for numbers
// below zero.
func Log[T cpu.Float](dst, x []T) {
	if len(x) != len(dst) {
		panic(badLength)
	}
	logTo(dst, x)
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
