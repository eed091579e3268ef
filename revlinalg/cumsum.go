package revlinalg

import (
	"unsafe"

	"revnum/internal/number"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/rev"
)

// CumSum is the kernel
//
//	y_i += Σ_{j≤i} x_j
//
// that adds the sums of the first elements of x, real or complex. With ġy the tangent of ȳ, the
// derivatives are
//
//	x̄_i += Σ_{j≥i} ȳ_j,  ẏ_i += Σ_{j≤i} ẋ_j,  ġx_i += Σ_{j≥i} ġy_j.
//
// In floating point a sum of m numbers is within (m/4 + 3)·ε·Σ|x_j|, for complex numbers in each
// part. It overflows if a sum of two neighbours does. In fixed point it is exact and wraps at ±2²⁰. Intermediate sums may wrap without harm.
type CumSum[T rev.Number] struct {
	Y rev.Vector[T] `rev:"acc" shape:"n"`
	X rev.Vector[T] `rev:"in" shape:"n"`
}

// cumSumRun is Run of CumSum. It returns no error.
func cumSumRun[T rev.Number](k *CumSum[T], p *rev.Pass[CumSum[T]]) error {
	sign := p.Sign()
	addSums(k.Y, sign, k.X, false)
	addSums(p.T.Y, sign, p.T.X, false)
	addSums(p.G.X, 1, p.G.Y, true)
	addSums(p.GT.X, 1, p.GT.Y, true)
	return nil
}

// addSums adds to y the sums of the first elements of x, or of the last if back is set.
func addSums[T rev.Number](y rev.Vector[T], sign int, x rev.Vector[T], back bool) {
	if y.Data == nil || x.Data == nil {
		return
	}
	const piece = 256 // a multiple of a group
	var room [piece]T
	var before T
	for done := 0; done < x.N; done += piece {
		n := min(piece, x.N-done)
		lo := done
		if back {
			lo = x.N - done - n
		}
		v := room[:n]
		from := vec.Packed(v, x.Data, x.Inc, lo, n)
		if back {
			before = sumsBack(v, from, before)
		} else {
			before = sums(v, from, before)
		}
		to := vector.Between(y, lo, n)
		switch {
		case !number.IsComplex[T]():
			vector.AddScaled(sign, number.One[T](), rev.ViewSlice(v), to)
		case to.Inc == 1: // the complex product of 1 and infinity is NaN
			vec.Axpy(float64(sign), parts(v), parts(to.Data[:n]))
		default:
			for i, s := range v {
				to.Data[i*to.Inc] += number.Signed(sign, s)
			}
		}
	}
}

// parts returns the real and imaginary parts of complex numbers, one after the other.
func parts[T rev.Number](z []T) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(z))), 2*len(z))
}

// sums computes the sums of before and the first elements of x, and returns the last. It works on
// groups of four, so that a group, and not an element, waits for the one before.
func sums[T rev.Number](v, x []T, before T) T {
	for ; len(x) >= 4 && len(v) >= 4; v, x = v[4:], x[4:] {
		two, last := x[0]+x[1], x[2]+x[3]
		v[0], v[1], v[2] = before+x[0], before+two, before+(two+x[2])
		before += two + last
		v[3] = before
	}
	for i, x := range x {
		before += x
		v[i] = before
	}
	return before
}

// sumsBack is sums from the last element on.
func sumsBack[T rev.Number](v, x []T, before T) T {
	n := len(x)
	for ; n >= 4; n -= 4 {
		x, v := x[n-4:n:n], v[n-4:n:n]
		two, last := x[3]+x[2], x[1]+x[0]
		v[3], v[2], v[1] = before+x[3], before+two, before+(two+x[1])
		before += two + last
		v[0] = before
	}
	for i := n - 1; i >= 0; i-- {
		before += x[i]
		v[i] = before
	}
	return before
}
