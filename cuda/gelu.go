package cuda

import "revnum/rev"

// GELU is the kernel of revnn.GELU,
//
//	y_i += x_i·Φ(x_i),  Φ(x) = (1 + erf(x/√2))/2
//
// with the derivatives, where φ(x) = exp(-x²/2)/√(2π) and f′ = Φ(x) + x·φ(x),
//
//	x̄ += f′·ȳ,  ẏ += f′·ẋ,  ġx += f′·ġy + (2 - x²)·φ(x)·ẋ·ȳ.
//
// It is the exact function, which is PyTorch's default, and not the approximation by tanh. In
// float64 and fixed point it has the bits of the host. In float64 the value is within 6 units in the
// last place, even for large negative x, and f′ is within 7·2⁻⁵³·(Φ + |x·φ|). In float32 and fixed
// point both are within 0.51 units. At -Inf the value is 0, its limit.
//
// Source: D. Hendrycks and K. Gimpel, Gaussian Error Linear Units, arXiv 1606.08415.
type GELU[T rev.Real] struct {
	Y Vector[T] `rev:"acc" shape:"n"`
	X Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k GELU[T]) Run(p rev.Pass[GELU[T]]) error {
	w := begin(&k, &p)
	elementwise[T](k).run(&w, "gelu", everywhere, p.Sign(), elementwise[T](p.G), elementwise[T](p.T), elementwise[T](p.GT))
	return w.end()
}
