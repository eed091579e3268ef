package revlinalg

import (
	"math"

	"revnum/internal/number"
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

// Run implements rev.Kernel. It returns no error.
func (k NormInf[T]) Run(p rev.Pass[NormInf[T]]) error {
	m, x := k.largest()
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), magnitude(x))
	}
	if m < 0 {
		return nil
	}
	if p.T.Out != nil && p.T.X.Data != nil {
		*p.T.Out += number.Signed(p.Sign(), T(sign(x)*p.T.X.Data[m*p.T.X.Inc]))
	}
	at := vector.Between(k.X, m, 1)
	addSigns(p.G.Out, at, vector.Between(p.G.X, m, 1))
	addSigns(p.GT.Out, at, vector.Between(p.GT.X, m, 1))
	return nil
}

// largest returns m and x_m. If there is a NaN, it returns the first one. m is -1 if
// all elements are zero.
func (k *NormInf[T]) largest() (m int, x T) {
	m = -1
	for i := range k.X.N {
		v := k.X.Data[i*k.X.Inc]
		isNaN := math.IsNaN(float64(v))
		if -magnitude(v) < -magnitude(x) || isNaN { // so that -2²⁰, whose magnitude has no number, counts
			m, x = i, v
		}
		if isNaN {
			break
		}
	}
	return m, x
}
