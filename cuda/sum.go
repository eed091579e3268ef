package cuda

import "revnum/rev"

// Sum is the kernel
//
//	Out += Σ x_i
//
// of revlinalg.Sum over real numbers, with the derivatives
//
//	x̄_i += Ōut,  Ȯut += Σ ẋ_i,  ġx_i += ġOut.
//
// The order of the sum is that of Dot. In floating point it is within (n/2¹⁸ + 30)·ε·Σ|x_i|. In
// fixed point it is exact, and wraps.
type Sum[T rev.Real] struct {
	Out *T        `rev:"acc"`
	X   Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k Sum[T]) Run(p rev.Pass[Sum[T]]) error {
	w := begin(&k, &p)
	addSum(&w, k.Out, p.Sign(), k.X)
	addSum(&w, p.T.Out, p.Sign(), p.T.X)
	addConstant(&w, p.G.X, 1, p.G.Out)
	addConstant(&w, p.GT.X, 1, p.GT.Out)
	return w.end()
}
