package cuda

import "revnum/rev"

// Cos is the kernel of revlinalg.Cos,
//
//	y_i += cos(x_i)
//
// with the derivatives
//
//	x̄ -= sin(x)·ȳ,  ẏ -= sin(x)·ẋ,  ġx -= sin(x)·ġy + cos(x)·ẋ·ȳ.
//
// In fixed point it has the bits of the host. In float64 the cosine is within 1.5 units in the last place, even
// near its zeros and for large x. It is NaN for infinities. In float32 it is within 0.501 units,
// and in fixed point within 0.51.
type Cos[T rev.Real] struct {
	Y Vector[T] `rev:"acc" shape:"n"`
	X Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k Cos[T]) Run(p rev.Pass[Cos[T]]) error {
	w := begin(&k, &p)
	elementwise[T](k).run(&w, "cos", everywhere, p.Sign(), elementwise[T](p.G), elementwise[T](p.T), elementwise[T](p.GT))
	return w.end()
}
