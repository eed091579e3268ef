// Package simd holds the vectorised inner loops of revnum.
package simd

import "math"

// Float is the constraint of the element types that have vector code.
type Float interface {
	float32 | float64
}

// Dot returns Σ x_i·y_i.
func Dot[T Float](x, y []T) T {
	var s T
	for i, v := range x {
		s += T(v * y[i])
	}
	return s
}

// Axpy computes y += alpha·x.
func Axpy[T Float](alpha T, x, y []T) {
	for i, v := range x {
		y[i] += T(alpha * v)
	}
}

// Sum returns Σ x_i.
func Sum[T Float](x []T) T {
	var s T
	for _, v := range x {
		s += v
	}
	return s
}

// SumSquares returns Σ x_i².
func SumSquares[T Float](x []T) T {
	return Dot(x, x)
}

// Max returns the largest element of x, -Inf if x is empty, NaN if any is NaN.
func Max[T Float](x []T) T {
	m := T(math.Inf(-1))
	for _, v := range x {
		if v > m || v != v {
			m = v
		}
	}
	return m
}

// MaxTo computes dst_i = max(x_i, y_i), NaN if either is NaN.
func MaxTo[T Float](dst, x, y []T) {
	for i := range dst {
		dst[i] = max(x[i], y[i])
	}
}

// MulTo computes dst_i = x_i·y_i.
func MulTo[T Float](dst, x, y []T) {
	for i := range dst {
		dst[i] = x[i] * y[i]
	}
}

// Exp computes dst_i = exp(x_i).
func Exp[T Float](dst, x []T) {
	for i, v := range x {
		dst[i] = T(math.Exp(float64(v)))
	}
}

// Log computes dst_i = log(x_i).
func Log[T Float](dst, x []T) {
	for i, v := range x {
		dst[i] = T(math.Log(float64(v)))
	}
}

// ExpSubTo computes dst_i = exp(x_i - y_i).
func ExpSubTo[T Float](dst, x, y []T) {
	for i := range dst {
		dst[i] = T(math.Exp(float64(x[i] - y[i])))
	}
}

// ExpShiftSum computes dst_i = exp(x_i - shift) and returns their sum.
func ExpShiftSum[T Float](dst, x []T, shift T) T {
	var s T
	for i, v := range x {
		dst[i] = T(math.Exp(float64(v - shift)))
		s += dst[i]
	}
	return s
}

// SubColumn computes dst[i,p] = x[i,p] - c[i] for i < len(c), p < n; row i of
// dst begins at i*ldd, row i of x at i*ldx.
func SubColumn[T Float](n int, dst []T, ldd int, x []T, ldx int, c []T) {
	for i, ci := range c {
		d, s := dst[i*ldd:i*ldd+n], x[i*ldx:i*ldx+n]
		for p, v := range s {
			d[p] = v - ci
		}
	}
}

// Gemm computes C += alpha·A·B, where C is m×n stored by rows with stride ldc,
// A is m×k with A[i,l] = a[i*rsa+l*csa], and B is k×n with
// B[l,j] = b[l*rsb+j*csb].
func Gemm[T Float](m, n, k int, alpha T, a []T, rsa, csa int, b []T, rsb, csb int, c []T, ldc int) {
	for i := range m {
		for j := range n {
			var s T
			for l := range k {
				s += T(a[i*rsa+l*csa] * b[l*rsb+j*csb])
			}
			c[i*ldc+j] += T(alpha * s)
		}
	}
}

// TriNorms computes q[p] = Σ_i (Σ_{j<=i} L[i,j]·C[j,p])² for p < n, the squared
// norms of the columns of L·C without forming it. L is d×d lower triangular
// with L[i,j] = l[i*ldl+j] (what is above the diagonal is not read), and C is
// d×n with C[j,p] = c[j*ldc+p].
func TriNorms[T Float](d, n int, q []T, l []T, ldl int, c []T, ldc int) {
	for p := range n {
		var s T
		for i := range d {
			var y T
			for j := range i + 1 {
				y += T(l[i*ldl+j] * c[j*ldc+p])
			}
			s += T(y * y)
		}
		q[p] = s
	}
}

// Syrk computes M[i,j] += Σ_p w[p]·C[i,p]·C[j,p] for j <= i < d (the lower
// triangle, what is above the diagonal may be written or not), M[i,j] =
// m[i*ldm+j], C[i,p] = c[i*ldc+p]. work is scratch of length at least d·n.
func Syrk[T Float](d, n int, m []T, ldm int, w []T, c []T, ldc int, work []T) {
	for i := range d {
		for j := range i + 1 {
			var s T
			for p := range n {
				s += T(T(w[p]*c[i*ldc+p]) * c[j*ldc+p])
			}
			m[i*ldm+j] += s
		}
	}
}
