package cuda

import "revnum/rev"

// Exp is the kernel of revlinalg.Exp over real numbers,
//
//	y_i += exp(x_i)
//
// with the derivatives
//
//	x̄ += eˣ·ȳ,  ẏ += eˣ·ẋ,  ġx += eˣ·(ġy + ẋ·ȳ).
//
// In floating point the exponential is within a unit in the last place. In fixed point it has
// the bits of the host: it is within 0.51 units, and the largest number if it is out of range.
type Exp[T rev.Real] struct {
	Y Vector[T] `rev:"acc" shape:"n"`
	X Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k Exp[T]) Run(p rev.Pass[Exp[T]]) error {
	w := begin(&k, &p)
	elementwise[T](k).run(&w, "exp", everywhere, p.Sign(), elementwise[T](p.G), elementwise[T](p.T), elementwise[T](p.GT))
	return w.end()
}
