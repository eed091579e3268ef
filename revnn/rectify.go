package revnn

import (
	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// ReLU and LeakyReLU are piecewise linear. A pass adds s(x_i)·v_i, where s(x) is the slope
// and v is a value, tangent or cotangent.

// A rectifierPass is a pass in progress.
type rectifierPass[T rev.Real] struct {
	k, g, t, gt elementwise.Operands[T]
	slope       T // for x <= 0
	sign        int
}

// rectifyBlock is the number of elements that a worker takes at a time.
const rectifyBlock = 1 << 14

// rectify makes the pass of the given sign. slope is the slope for x <= 0.
func rectify[T rev.Real](slope T, sign int, k, g, t, gt elementwise.Operands[T]) {
	w := workspace.Get[rectifierPass[T]]()
	*w = rectifierPass[T]{k, g, t, gt, slope, sign}
	parallel.Run(parallel.Workers(k.Workers), (k.X.N+rectifyBlock-1)/rectifyBlock, w)
	*w = rectifierPass[T]{} // without the caller's storage
	workspace.Put(w)
}

// Block works on a block of elements.
func (w *rectifierPass[T]) Block(_, block int) {
	lo := block * rectifyBlock
	n := min(rectifyBlock, w.k.X.N-lo)
	x := vector.Between(w.k.X, lo, n)
	add := func(to rev.Vector[T], sign int, v rev.Vector[T]) {
		if to.Data != nil && v.Data != nil {
			addRectified(vector.Between(to, lo, n), sign, w.slope, x, vector.Between(v, lo, n))
		}
	}
	add(w.k.Y, w.sign, w.k.X)
	add(w.t.Y, w.sign, w.t.X)
	add(w.g.X, 1, w.g.Y)
	add(w.gt.X, 1, w.gt.Y)
}

// addRectified computes y += sign·s(x)·v. If the slope is 0, it adds nothing, even if v is
// NaN or infinite.
func addRectified[T rev.Real](y rev.Vector[T], sign int, slope T, x, v rev.Vector[T]) {
	if y.Inc == 1 && x.Inc == 1 && v.Inc == 1 && (slope == 0 || !number.IsFixed[T]()) {
		n := x.N
		switch ys := any(y.Data[:n]).(type) {
		case []fixed.Q43:
			fixedpoint.AddSigned(sign, false, number.As[[]fixed.Q43](x.Data[:n]), number.As[[]fixed.Q43](v.Data[:n]), ys)
		case []float64:
			vec.Rectify(ys, float64(sign), float64(number.Signed(sign, slope)), number.As[[]float64](x.Data[:n]), number.As[[]float64](v.Data[:n]))
		case []float32:
			vec.Rectify(ys, float32(sign), float32(number.Signed(sign, slope)), number.As[[]float32](x.Data[:n]), number.As[[]float32](v.Data[:n]))
		}
		return
	}
	for i := range x.N {
		d := v.Data[i*v.Inc]
		if x.Data[i*x.Inc] <= 0 {
			if slope == 0 {
				continue
			}
			d = fixed.Product(slope, d)
		}
		y.Data[i*y.Inc] += number.Signed(sign, d)
	}
}
