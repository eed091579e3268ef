package cuda

import "revnum/rev"

// Tanh is the kernel of revnn.Tanh over real numbers,
//
//	y_i += tanh(x_i)
//
// with the derivatives, where z = tanh(x),
//
//	x̄ += (1 - z²)·ȳ,  ẏ += (1 - z²)·ẋ,  ġx += (1 - z²)·ġy - 2z·(1 - z²)·ẋ·ȳ.
//
// In float64 the value is within 2 units in the last place, and 1 - z² within 5. In float32 and
// fixed point both are within 0.51 units.
type Tanh[T rev.Real] struct {
	Y Vector[T] `rev:"acc" shape:"n"`
	X Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k Tanh[T]) Run(p rev.Pass[Tanh[T]]) error {
	w := begin(&k, &p)
	elementwise[T](k).run(&w, "tanh", everywhere, p.Sign(), elementwise[T](p.G), elementwise[T](p.T), elementwise[T](p.GT))
	return w.end()
}
