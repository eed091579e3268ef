package cuda

import "revnum/rev"

// Sqrt is the kernel of revlinalg.Sqrt over real numbers,
//
//	y_i += √x_i
//
// with the derivatives
//
//	x̄ += ȳ/(2√x),  ẏ += ẋ/(2√x),  ġx += ġy/(2√x) - ẋ·ȳ/(4x√x).
//
// If an element of X is negative, all passes return a *rev.DomainError with the index of the
// first, and change nothing. Passes that need a derivative also do so if an element is zero.
// NaN is passed on. A pass waits for this check. The root is the nearest number.
type Sqrt[T rev.Real] struct {
	Y Vector[T] `rev:"acc" shape:"n"`
	X Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device or a *rev.DomainError.
func (k Sqrt[T]) Run(p rev.Pass[Sqrt[T]]) error {
	w := begin(&k, &p)
	elementwise[T](k).run(&w, "sqrt", notNegative, p.Sign(), elementwise[T](p.G), elementwise[T](p.T), elementwise[T](p.GT))
	return w.end()
}
