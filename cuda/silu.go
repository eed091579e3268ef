package cuda

import "revnum/rev"

// SiLU is the kernel of revnn.SiLU,
//
//	y_i += x_i·σ(x_i),  σ(x) = 1/(1 + exp(-x))
//
// also called swish, with the derivatives, where σ′ = σ(x)·σ(-x) and f′ = σ(x) + x·σ′,
//
//	x̄ += f′·ȳ,  ẏ += f′·ẋ,  ġx += f′·ġy + σ′·(2 + x·(1 - 2σ(x)))·ẋ·ȳ.
//
// Nothing overflows. In float64 and fixed point it has the bits of the host. In float64 the value is
// within 2.5 units in the last place, and f′ is within 5·2⁻⁵³·(σ + |x|·σ′). In float32 and fixed
// point both are within 0.51 units. At -Inf the value is 0, its limit.
type SiLU[T rev.Real] struct {
	Y Vector[T] `rev:"acc" shape:"n"`
	X Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k SiLU[T]) Run(p rev.Pass[SiLU[T]]) error {
	w := begin(&k, &p)
	elementwise[T](k).run(&w, "silu", everywhere, p.Sign(), elementwise[T](p.G), elementwise[T](p.T), elementwise[T](p.GT))
	return w.end()
}
