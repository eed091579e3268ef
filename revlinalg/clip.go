package revlinalg

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/rev"
)

// Clip is the kernel
//
//	y_i += min(max(x_i, Lo), Hi)
//
// The slope s(x) is 0 if x < Lo or x > Hi, and 1 otherwise, also where x is a bound or NaN. With
// ġy the tangent of ȳ, the derivatives are
//
//	x̄ += s(x)·ȳ,  ẏ += s(x)·ẋ,  ġx += s(x)·ġy.
//
// On a bound the slope is 1, as in PyTorch. A NaN shows in y, and derivatives pass. Lo and Hi are
// constants, which the kernel rounds to the number type. Lo = -Inf, Hi = +Inf and NaN
// bound nothing. If Lo is larger than Hi, all values are Hi, as in NumPy. Values and slopes are exact.
type Clip[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Lo, Hi  float64
	Workers int // 0 means GOMAXPROCS
}

// NewClip returns the kernel that adds to y, over gonum vectors, sharing their storage.
func NewClip(y, x *mat.VecDense, lo, hi float64) Clip[float64] {
	return Clip[float64]{Y: rev.ViewVec(y), X: rev.ViewVec(x), Lo: lo, Hi: hi}
}

// clipRun is Run of Clip. It returns no error.
func clipRun[T rev.Real](k *Clip[T], p *rev.Pass[Clip[T]]) error {
	choose(*k, *p, k.X.N, k.Workers)
	return nil
}

func (k Clip[T]) add(lo, n, sign int, g, t, gt *Clip[T]) {
	x := vector.Between(k.X, lo, n)
	clipAddValues(&k, vector.Between(k.Y, lo, n), sign, x)
	clipAddWithin(&k, vector.Between(t.Y, lo, n), sign, x, vector.Between(t.X, lo, n))
	clipAddWithin(&k, vector.Between(g.X, lo, n), 1, x, vector.Between(g.Y, lo, n))
	clipAddWithin(&k, vector.Between(gt.X, lo, n), 1, x, vector.Between(gt.Y, lo, n))
}

// clipBounds returns Lo and Hi as numbers of the type.
func clipBounds[T rev.Real](k *Clip[T]) (lo, hi T) {
	bound := func(b float64, sign int) T {
		if math.IsNaN(b) {
			b = math.Inf(sign)
		}
		return fixed.Of[T](b)
	}
	return bound(k.Lo, -1), bound(k.Hi, 1)
}

// clipAddValues adds the values of the kernel.
func clipAddValues[T rev.Real](k *Clip[T], y rev.Vector[T], sign int, x rev.Vector[T]) {
	if y.Data == nil {
		return
	}
	lo, hi := clipBounds(k)
	if packed(y, x) {
		switch y := any(y.Data[:y.N]).(type) {
		case []float64:
			vec.AddClip(y, float64(sign), float64(lo), float64(hi), number.As[[]float64](x.Data[:x.N]))
			return
		case []float32:
			vec.AddClip(y, float32(sign), float32(lo), float32(hi), number.As[[]float32](x.Data[:x.N]))
			return
		}
	}
	for i := range x.N {
		v := x.Data[i*x.Inc]
		if v < lo {
			v = lo
		}
		if v > hi {
			v = hi
		}
		y.Data[i*y.Inc] += number.Signed(sign, v)
	}
}

// clipAddWithin computes to += sign·s(x)·from.
func clipAddWithin[T rev.Real](k *Clip[T], to rev.Vector[T], sign int, x, from rev.Vector[T]) {
	if to.Data == nil || from.Data == nil {
		return
	}
	lo, hi := clipBounds(k)
	if packed(to, x, from) {
		switch to := any(to.Data[:to.N]).(type) {
		case []float64:
			vec.AddWithin(to, float64(sign), float64(lo), float64(hi), number.As[[]float64](x.Data[:x.N]), number.As[[]float64](from.Data[:from.N]))
			return
		case []float32:
			vec.AddWithin(to, float32(sign), float32(lo), float32(hi), number.As[[]float32](x.Data[:x.N]), number.As[[]float32](from.Data[:from.N]))
			return
		}
	}
	for i := range x.N {
		if v := x.Data[i*x.Inc]; v < lo || v > hi {
			continue
		}
		to.Data[i*to.Inc] += number.Signed(sign, from.Data[i*from.Inc])
	}
}
