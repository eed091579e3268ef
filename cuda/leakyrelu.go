package cuda

import (
	"revnum/fixed"
	"revnum/rev"
)

// LeakyReLU is the kernel of revnn.LeakyReLU,
//
//	y_i += s(x_i)·x_i
//
// with the derivatives, where the slope s(x) is 1 if x > 0, and Slope otherwise,
//
//	x̄ += s(x)·ȳ,  ẏ += s(x)·ẋ,  ġx += s(x)·ġy.
//
// At 0 the slope is Slope, as in PyTorch. Slope is a constant. The kernel rounds it to the number
// type, and rounds its product with x. It has the bits of the host.
type LeakyReLU[T rev.Real] struct {
	Y     Vector[T] `rev:"acc" shape:"n"`
	X     Vector[T] `rev:"in" shape:"n"`
	Slope float64   // for negative x; PyTorch uses 0.01
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k LeakyReLU[T]) Run(p rev.Pass[LeakyReLU[T]]) error {
	w := begin(&k, &p)
	k.operands().rectify(&w, fixed.Of[T](k.Slope), p.Sign(), p.G.operands(), p.T.operands(), p.GT.operands())
	return w.end()
}

func (k *LeakyReLU[T]) operands() elementwise[T] { return elementwise[T]{k.Y, k.X} }
