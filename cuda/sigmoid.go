package cuda

import "revnum/rev"

// Sigmoid is the kernel of revnn.Sigmoid over real numbers,
//
//	y_i += σ(x_i) = 1/(1 + exp(-x_i))
//
// with the derivatives, where σ′ = σ·(1 - σ),
//
//	x̄ += σ′(x)·ȳ,  ẏ += σ′(x)·ẋ,  ġx += σ′(x)·ġy + σ′(x)·(1 - 2σ(x))·ẋ·ȳ.
//
// Nothing overflows. In float64 the value is within 2.5 units in the last place, and σ′ within
// 5. In float32 and fixed point both are within 0.51 units.
type Sigmoid[T rev.Real] struct {
	Y Vector[T] `rev:"acc" shape:"n"`
	X Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k Sigmoid[T]) Run(p rev.Pass[Sigmoid[T]]) error {
	w := begin(&k, &p)
	elementwise[T](k).run(&w, "sigmoid", everywhere, p.Sign(), elementwise[T](p.G), elementwise[T](p.T), elementwise[T](p.GT))
	return w.end()
}
