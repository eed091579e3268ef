package cuda

import "revnum/rev"

// ReLU is the kernel of revnn.ReLU,
//
//	y_i += max(x_i, 0)
//
// with the derivatives, where the slope s(x) is 1 if x > 0, and 0 otherwise,
//
//	x̄ += s(x)·ȳ,  ẏ += s(x)·ẋ,  ġx += s(x)·ġy.
//
// At 0 the slope is 0, as in PyTorch. A NaN in X is passed on. Value and slope are exact.
type ReLU[T rev.Real] struct {
	Y Vector[T] `rev:"acc" shape:"n"`
	X Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k ReLU[T]) Run(p rev.Pass[ReLU[T]]) error {
	w := begin(&k, &p)
	elementwise[T](k).rectify(&w, 0, p.Sign(), elementwise[T](p.G), elementwise[T](p.T), elementwise[T](p.GT))
	return w.end()
}
