package revnn

import (
	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// ReLU and LeakyReLU are piecewise linear. A pass adds s(x_i)·v_i, where s(x) is the slope
// and v is a value, tangent or cotangent.

// A rectifierPass is a pass in progress.
type rectifierPass[T rev.Real] struct {
	k, g, t, gt *elementwise.Operands[T]
	slope       T // for x <= 0
	sign        int
}

// A rectifierJob is a pass whose blocks several workers share. It has the operands itself, because
// those of a pass may lie on a stack.
type rectifierJob[T rev.Real] struct {
	rectifierPass[T]
	operands [4]elementwise.Operands[T]
}

// rectifyBlock is the number of elements that a worker takes at a time.
const rectifyBlock = 1 << 14

// rectify makes the pass of the given sign. slope is the slope for x <= 0.
func rectify[T rev.Real](slope T, sign int, k, g, t, gt *elementwise.Operands[T]) {
	w, n := rectifierPass[T]{k, g, t, gt, slope, sign}, k.X.N
	if n <= rectifyBlock && k.Workers >= 0 { // parallel.Workers panics
		parallel.CheckInterrupt()
		w.add(0, n)
		return
	}
	j := workspace.Get[*rectifierJob[T]]()
	j.operands = [4]elementwise.Operands[T]{*k, *g, *t, *gt}
	o := &j.operands
	j.rectifierPass = rectifierPass[T]{&o[0], &o[1], &o[2], &o[3], slope, sign}
	parallel.Run(parallel.Workers(k.Workers), (n+rectifyBlock-1)/rectifyBlock, j)
	*j = rectifierJob[T]{} // without the caller's storage
	workspace.Put(j)
}

// Block works on a block of elements.
func (j *rectifierJob[T]) Block(_, block int) {
	lo := block * rectifyBlock
	j.add(lo, min(rectifyBlock, j.k.X.N-lo))
}

// add makes the pass for n elements from lo on.
func (w *rectifierPass[T]) add(lo, n int) {
	w.addRectified(&w.k.Y, w.sign, &w.k.X, lo, n)
	w.addRectified(&w.t.Y, w.sign, &w.t.X, lo, n)
	w.addRectified(&w.g.X, 1, &w.g.Y, lo, n)
	w.addRectified(&w.gt.X, 1, &w.gt.Y, lo, n)
}

// addRectified computes y += sign·s(x)·v for n elements from lo on, unless y or v is nil. If the slope
// is 0, it adds nothing, even if v is NaN or infinite.
func (w *rectifierPass[T]) addRectified(y *rev.Vector[T], sign int, v *rev.Vector[T], lo, n int) {
	x, slope := &w.k.X, w.slope
	if y.Data == nil || v.Data == nil {
		return
	}
	if y.Inc == 1 && x.Inc == 1 && v.Inc == 1 && (slope == 0 || !number.IsFixed[T]()) {
		switch ys := any(y.Data[lo : lo+n]).(type) {
		case []fixed.Q43:
			fixedpoint.AddSigned(sign, false, number.As[[]fixed.Q43](x.Data[lo:lo+n]), number.As[[]fixed.Q43](v.Data[lo:lo+n]), ys)
		case []float64:
			vec.Rectify(ys, float64(sign), float64(number.Signed(sign, slope)), number.As[[]float64](x.Data[lo:lo+n]), number.As[[]float64](v.Data[lo:lo+n]))
		case []float32:
			vec.Rectify(ys, float32(sign), float32(number.Signed(sign, slope)), number.As[[]float32](x.Data[lo:lo+n]), number.As[[]float32](v.Data[lo:lo+n]))
		}
		return
	}
	for i := lo; i < lo+n; i++ {
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
