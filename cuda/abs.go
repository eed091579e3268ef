package cuda

import "revnum/rev"

// Abs is the kernel of revlinalg.Abs over real numbers,
//
//	y_i += |x_i|
//
// with the derivatives, where sign(0) = 0 (the subgradient of least norm),
//
//	x̄ += sign(x)·ȳ,  ẏ += sign(x)·ẋ,  ġx += sign(x)·ġy.
//
// It is exact, except that the least fixed-point number, -2²⁰, is its own magnitude.
type Abs[T rev.Real] struct {
	Y Vector[T] `rev:"acc" shape:"n"`
	X Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k Abs[T]) Run(p rev.Pass[Abs[T]]) error {
	w := begin(&k, &p)
	elementwise[T](k).run(&w, "abs", everywhere, p.Sign(), elementwise[T](p.G), elementwise[T](p.T), elementwise[T](p.GT))
	return w.end()
}
