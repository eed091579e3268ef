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

// Forward computes Y += s(x)·x.
func (k LeakyReLU[T]) Forward() error { return k.Run(rev.ForwardPass(&k)) }

// Inverse computes Y -= s(x)·x.
func (k LeakyReLU[T]) Inverse() error { return k.Run(rev.InversePass(&k)) }

// Adjoint computes Y -= s(x)·x and x̄ += s(x)·ȳ.
func (k LeakyReLU[T]) Adjoint(g LeakyReLU[T]) error { return k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes Y += s(x)·x and ẏ += s(x)·ẋ.
func (k LeakyReLU[T]) Tangent(t LeakyReLU[T]) error { return k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes back the tangent of Y, and adds the
// tangent of the gradient in gt.
func (k LeakyReLU[T]) AdjointTangent(g, t, gt LeakyReLU[T]) error {
	return k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k LeakyReLU[T]) Run(p rev.Pass[LeakyReLU[T]]) error {
	w := begin(&k, &p)
	k.operands().rectify(&w, fixed.Of[T](k.Slope), p.Sign(), p.G.operands(), p.T.operands(), p.GT.operands())
	return w.end()
}

func (k *LeakyReLU[T]) operands() elementwise[T] { return elementwise[T]{k.Y, k.X} }
