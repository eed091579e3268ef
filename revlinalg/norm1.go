package revlinalg

import (
	"revnum/internal/number"
	"revnum/rev"
)

// Norm1 is the kernel
//
//	Out += ‖x‖₁ = Σ |x_i|
//
// with the derivatives, where sign(0) = 0 (the subgradient of least norm),
//
//	x̄ += Ōut·sign(x),  Ȯut += Σ sign(x_i)·ẋ_i,  ġx += ġOut·sign(x).
//
// In floating point the sum is within n·ε times itself. In fixed point it is exact and
// wraps at 2²⁰.
type Norm1[T rev.Real] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns no error.
func (k Norm1[T]) Run(p rev.Pass[Norm1[T]]) error {
	if k.Out != nil {
		var s T
		for i := range k.X.N {
			s += magnitude(k.X.Data[i*k.X.Inc])
		}
		*k.Out += number.Signed(p.Sign(), s)
	}
	if p.T.Out != nil && p.T.X.Data != nil {
		var s T
		for i := range k.X.N {
			s += T(sign(k.X.Data[i*k.X.Inc]) * p.T.X.Data[i*p.T.X.Inc])
		}
		*p.T.Out += number.Signed(p.Sign(), s)
	}
	addSigns(p.G.Out, k.X, p.G.X)
	addSigns(p.GT.Out, k.X, p.GT.X)
	return nil
}

// addSigns adds r·sign(x_i) to each y_i. It does nothing if r or y is nil.
func addSigns[T rev.Real](r *T, x, y rev.Vector[T]) {
	if r == nil || y.Data == nil {
		return
	}
	for i := range x.N {
		y.Data[i*y.Inc] += T(*r * sign(x.Data[i*x.Inc]))
	}
}

// magnitude returns |x|. The least fixed-point number is its own magnitude.
func magnitude[T rev.Real](x T) T {
	if x < 0 {
		return -x
	}
	return x + 0 // not -0
}
