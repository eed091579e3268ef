package revlinalg

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// NormInf is the kernel
//
//	Out += ‖x‖_∞ = max |x_i|
//
// with the derivatives, where m is the index of the first element of that
// magnitude and ġ the tangent of Ōut,
//
//	x̄_m += Ōut·sign(x_m),  Ȯut += sign(x_m)·ẋ_m,  ẋ̄_m += ġ·sign(x_m).
//
// This is a subgradient where several elements have that magnitude, and zero
// where all are zero, as sign(0) = 0. The norm is exact, and zero if there is no
// element. In fixed point an element of -2²⁰ is the largest there can be, and what
// is added is its magnitude modulo 2²¹, -2²⁰.
type NormInf[T rev.Real] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in"`
}

// NewNormInf returns the kernel over a gonum vector, sharing its storage.
func NewNormInf(out *float64, x *mat.VecDense) NormInf[float64] {
	return NormInf[float64]{Out: out, X: rev.ViewVec(x)}
}

// largest returns m and x_m, the first NaN if there is one, and -1 if all
// elements are zero.
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

// Forward computes Out += max |x_i|.
func (k NormInf[T]) Forward() {
	rev.Check(&k)
	if k.Out != nil {
		_, x := k.largest()
		*k.Out += magnitude(x)
	}
}

// Inverse computes Out -= max |x_i|.
func (k NormInf[T]) Inverse() {
	rev.Check(&k)
	if k.Out != nil {
		_, x := k.largest()
		*k.Out -= magnitude(x)
	}
}

// Adjoint computes Out -= max |x_i| and x̄_m += Ōut·sign(x_m).
func (k NormInf[T]) Adjoint(g NormInf[T]) {
	rev.CheckLike(&k, &g)
	k.Inverse()
	m, x := k.largest()
	g.addGradient(m, x)
}

// addGradient adds the cotangent of the norm, with the sign of x, to that of
// element m.
func (k *NormInf[T]) addGradient(m int, x T) {
	if k.Out != nil && k.X.Data != nil && m >= 0 {
		k.X.Data[m*k.X.Inc] += T(*k.Out * sign(x))
	}
}

// derivative returns sign(x_m)·ẋ_m.
func (k *NormInf[T]) derivative(m int, x T) T {
	if m < 0 {
		return 0
	}
	return T(sign(x) * k.X.Data[m*k.X.Inc])
}

// Tangent computes Out += max |x_i| and Ȯut += sign(x_m)·ẋ_m.
func (k NormInf[T]) Tangent(t NormInf[T]) {
	rev.CheckLike(&k, &t)
	k.Forward()
	if t.Out != nil && t.X.Data != nil {
		*t.Out += t.derivative(k.largest())
	}
}

// AdjointTangent computes what Adjoint does, Ȯut -= sign(x_m)·ẋ_m, and the
// tangent of the gradient in gt.
func (k NormInf[T]) AdjointTangent(g, t, gt NormInf[T]) {
	rev.CheckLike(&k, &g, &t, &gt)
	k.Inverse()
	m, x := k.largest()
	if t.Out != nil && t.X.Data != nil {
		*t.Out -= t.derivative(m, x)
	}
	g.addGradient(m, x)
	gt.addGradient(m, x)
}
