package cuda

import "revnum/rev"

// Softplus is the kernel of revnn.Softplus,
//
//	y_i += log(1 + exp(x_i))
//
// with the derivatives, where σ(x) = 1/(1 + exp(-x)),
//
//	x̄ += σ(x)·ȳ,  ẏ += σ(x)·ẋ,  ġx += σ(x)·ġy + σ(x)·σ(-x)·ẋ·ȳ.
//
// Nothing overflows. In float64 and fixed point it has the bits of the host. In float64 the value is
// within 2 units in the last place, and σ within 3.5. In float32 and fixed point both are within
// 0.51 units.
type Softplus[T rev.Real] struct {
	Y Vector[T] `rev:"acc" shape:"n"`
	X Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k Softplus[T]) Run(p rev.Pass[Softplus[T]]) error {
	w := begin(&k, &p)
	elementwise[T](k).run(&w, "softplus", everywhere, p.Sign(), elementwise[T](p.G), elementwise[T](p.T), elementwise[T](p.GT))
	return w.end()
}
