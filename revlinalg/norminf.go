package revlinalg

import (
	"math"

	"revnum/internal/number"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/rev"
)

// NormInf is the kernel
//
//	Out += ‖x‖_∞ = max |x_i|
//
// with the derivatives, where m is the index of the first element of that magnitude,
//
//	x̄_m += Ōut·sign(x_m),  Ȯut += sign(x_m)·ẋ_m,  ġx_m += ġOut·sign(x_m).
//
// If several elements have that magnitude, this is a subgradient. If all are zero it is
// zero, as sign(0) = 0. The norm is exact. It is zero if there are no elements. In
// fixed point an element of -2²⁰ has the largest magnitude. The kernel then adds -2²⁰,
// which is that magnitude modulo 2²¹.
type NormInf[T rev.Real] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in" shape:"n"`
}

// normInfRun is Run of NormInf. It returns no error.
func normInfRun[T rev.Real](k *NormInf[T], p *rev.Pass[NormInf[T]]) error {
	top := largestMagnitude(k.X)
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), top)
	}
	if !p.Adjoint && !p.Tangent || top == 0 {
		return nil
	}
	m := firstOf(k.X, top)
	if p.T.Out != nil && p.T.X.Data != nil {
		*p.T.Out += number.Signed(p.Sign(), T(sign(k.X.Data[m*k.X.Inc])*p.T.X.Data[m*p.T.X.Inc]))
	}
	at := vector.Between(k.X, m, 1)
	addSigns(p.G.Out, at, vector.Between(p.G.X, m, 1))
	addSigns(p.GT.Out, at, vector.Between(p.GT.X, m, 1))
	return nil
}

// largestMagnitude returns max |x_i|, NaN if any element is NaN, and 0 if there are none.
func largestMagnitude[T rev.Real](x rev.Vector[T]) T {
	if x.Inc == 1 {
		switch x := any(x.Data[:x.N]).(type) {
		case []float64:
			return T(vec.MaxAbs(x))
		case []float32:
			return T(vec.MaxAbs(x))
		}
	}
	var least T
	for i := range x.N {
		least = min(least, -magnitude(x.Data[i*x.Inc])) // which -2²⁰ has, too
	}
	return -least
}

// firstOf returns the index of the first element whose magnitude is top, the largest, or of the
// first NaN if top is NaN.
func firstOf[T rev.Real](x rev.Vector[T], top T) int {
	i := 0
	if x.Inc == 1 && !math.IsNaN(float64(top)) {
		switch x := any(x.Data[:x.N]).(type) {
		case []float64:
			return vec.Smaller(x, float64(top))
		case []float32:
			return vec.Smaller(x, float32(top))
		}
	}
	for {
		if v := x.Data[i*x.Inc]; magnitude(v) == top || math.IsNaN(float64(v)) {
			return i
		}
		i++
	}
}
