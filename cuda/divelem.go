package cuda

import "revnum/rev"

// DivElem is the kernel of revlinalg.DivElem,
//
//	z_i += x_i/y_i
//
// for vectors of the same length, with the derivatives, where q = x/y and ω = z̄/y,
//
//	x̄ += ω,  ȳ -= ω·q,  ż += q̇ = (ẋ - q·ẏ)/y,
//	ġx += ω̇ = (ġz - ω·ẏ)/y,  ġy -= ω̇·q + ω·q̇.
//
// If an element of Y is zero, all passes return a *rev.DomainError with the index of the first,
// and change nothing. NaN is passed on. A pass waits for this check. Each quotient is rounded
// once. In fixed point a quotient of magnitude 2²⁰ or more wraps and is meaningless. The kernel
// has the bits of the host.
type DivElem[T rev.Real] struct {
	Z Vector[T] `rev:"acc" shape:"n"`
	X Vector[T] `rev:"in" shape:"n"`
	Y Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device or a *rev.DomainError.
func (k DivElem[T]) Run(p rev.Pass[DivElem[T]]) error {
	w := begin(&k, &p)
	outside := uint64(0)
	if k.Y.N > 0 {
		outside = firstOutside(&w, k.Y, notZero)
	}
	triple[T](k).run(&w, "divide", outside, p.Sign(), triple[T](p.G), triple[T](p.T), triple[T](p.GT))
	if i := w.outside(outside, k.Y.N); i >= 0 {
		w.fail(&rev.DomainError{Func: "quotient", Args: []float64{elementOf(&w, k.X, i), elementOf(&w, k.Y, i)}, Index: i})
	}
	return w.end()
}
