package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/rev"
)

// MaxElem is the kernel
//
//	z_i += max(x_i, y_i)
//
// for vectors of the same length. The slope s(x, y) is 1 if x > y, 1/2 if x = y, and 0 if x < y
// (the subgradient of least norm). With ġz the tangent of z̄, the derivatives are
//
//	x̄ += s(x, y)·z̄,  ȳ += s(y, x)·z̄,  ż += s(x, y)·ẋ + s(y, x)·ẏ,
//	ġx += s(x, y)·ġz,  ġy += s(y, x)·ġz.
//
// If x or y is NaN, so is the maximum, and both slopes are 1, as in PyTorch. Zeros of either sign
// are equal. Value and slopes are exact, but half an odd number in fixed point, or a subnormal one, is rounded.
type MaxElem[T rev.Real] struct {
	Z       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Y       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

// maxElemRun is Run of MaxElem. It returns no error.
func maxElemRun[T rev.Real](k *MaxElem[T], p *rev.Pass[MaxElem[T]]) error {
	choose(*k, *p, k.X.N, k.Workers)
	return nil
}

func (k MaxElem[T]) add(lo, n, sign int, g, t, gt *MaxElem[T]) {
	addExtremes(lo, n, sign, false, &k, g, t, gt)
}

// addExtremes makes a pass of MaxElem for n elements from lo on, or that of MinElem if least is set.
func addExtremes[T rev.Real](lo, n, sign int, least bool, k, g, t, gt *MaxElem[T]) {
	x, y := vector.Between(k.X, lo, n), vector.Between(k.Y, lo, n)
	addExtreme(vector.Between(k.Z, lo, n), sign, least, x, y)
	if least { // which has the slopes of the maximum of -x and -y
		x, y = y, x
	}
	greater := func(to *rev.Vector[T], sign int, x, y rev.Vector[T], from *rev.Vector[T]) {
		if to.Data != nil && from.Data != nil {
			addGreater(vector.Between(*to, lo, n), sign, x, y, vector.Between(*from, lo, n))
		}
	}
	greater(&t.Z, sign, x, y, &t.X)
	greater(&t.Z, sign, y, x, &t.Y)
	greater(&g.X, 1, x, y, &g.Z)
	greater(&g.Y, 1, y, x, &g.Z)
	greater(&gt.X, 1, x, y, &gt.Z)
	greater(&gt.Y, 1, y, x, &gt.Z)
}

// addExtreme computes z += sign·max(x, y), or with the minimum if least is set.
func addExtreme[T rev.Real](z rev.Vector[T], sign int, least bool, x, y rev.Vector[T]) {
	if z.Data == nil {
		return
	}
	if packed(z, x, y) {
		switch z := any(z.Data[:z.N]).(type) {
		case []float64:
			addExtremeFloats(z, float64(sign), least, number.As[[]float64](x.Data[:x.N]), number.As[[]float64](y.Data[:y.N]))
			return
		case []float32:
			addExtremeFloats(z, float32(sign), least, number.As[[]float32](x.Data[:x.N]), number.As[[]float32](y.Data[:y.N]))
			return
		}
	}
	for i := range z.N {
		x, y := x.Data[i*x.Inc], y.Data[i*y.Inc]
		v := max(x, y)
		if least {
			v = min(x, y)
		}
		z.Data[i*z.Inc] += number.Signed(sign, v)
	}
}

func addExtremeFloats[T rev.Float](z []T, sign T, least bool, x, y []T) {
	if least {
		vec.AddMin(z, sign, x, y)
	} else {
		vec.AddMax(z, sign, x, y)
	}
}

// addGreater computes to += sign·s(x, y)·from for the slope s of MaxElem.
func addGreater[T rev.Real](to rev.Vector[T], sign int, x, y, from rev.Vector[T]) {
	if packed(to, x, y, from) {
		switch to := any(to.Data[:to.N]).(type) {
		case []float64:
			vec.AddGreater(to, float64(sign), number.As[[]float64](x.Data[:x.N]), number.As[[]float64](y.Data[:y.N]), number.As[[]float64](from.Data[:from.N]))
			return
		case []float32:
			vec.AddGreater(to, float32(sign), number.As[[]float32](x.Data[:x.N]), number.As[[]float32](y.Data[:y.N]), number.As[[]float32](from.Data[:from.N]))
			return
		}
	}
	half := fixed.Of[T](0.5)
	for i := range to.N {
		x, y, v := x.Data[i*x.Inc], y.Data[i*y.Inc], from.Data[i*from.Inc]
		if x < y {
			continue
		}
		if x == y {
			v = fixed.Product(half, v)
		}
		to.Data[i*to.Inc] += number.Signed(sign, v)
	}
}
