package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// isFixed reports whether T is a fixed-point type. It is a constant for each T,
// so that the branch not taken costs nothing.
func isFixed[T rev.Real]() bool { return T(1)/2 == 0 }

// row returns row i of m, sharing its storage.
func row[T any](m rev.General[T], i int) rev.Vector[T] {
	return rev.ViewSlice(m.Row(i))
}

// axmy computes y -= alpha·x.
func axmy[T rev.Real](alpha T, x, y rev.Vector[T]) {
	if !isFixed[T]() {
		axpy(-alpha, x, y)
		return
	}
	for i := range x.N {
		y.Data[i*y.Inc] -= fixed.Product(alpha, x.Data[i*x.Inc])
	}
}

// sumSquares returns Σ x_i², in fixed point rounded once.
func sumSquares[T rev.Real](x rev.Vector[T]) T {
	if x.N > 0 && x.Inc == 1 {
		switch xs := any(x.Data[:x.N]).(type) {
		case []float64:
			return T(vec.SumSquares(xs))
		case []float32:
			return T(vec.SumSquares(xs))
		}
	}
	return dot(x, x)
}

// sum returns Σ x_i.
func sum[T rev.Real](x rev.Vector[T]) T {
	if x.N > 0 && x.Inc == 1 {
		switch xs := any(x.Data[:x.N]).(type) {
		case []float64:
			return T(vec.Sum(xs))
		case []float32:
			return T(vec.Sum(xs))
		}
	}
	var s T
	for i := range x.N {
		s += x.Data[i*x.Inc]
	}
	return s
}
