package cuda

import "revnum/rev"

// Sin is the kernel of revlinalg.Sin,
//
//	y_i += sin(x_i)
//
// with the derivatives
//
//	x̄ += cos(x)·ȳ,  ẏ += cos(x)·ẋ,  ġx += cos(x)·ġy - sin(x)·ẋ·ȳ.
//
// In fixed point it has the bits of the host. In float64 the sine is within 1.5 units in the last
// place, also near multiples of π and for large x. It is NaN for infinities. In float32 it is within 0.501
// units, and in fixed point within 0.51.
type Sin[T rev.Real] struct {
	Y Vector[T] `rev:"acc" shape:"n"`
	X Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k Sin[T]) Run(p rev.Pass[Sin[T]]) error {
	w := begin(&k, &p)
	elementwise[T](k).run(&w, "sin", everywhere, p.Sign(), elementwise[T](p.G), elementwise[T](p.T), elementwise[T](p.GT))
	return w.end()
}
