package cuda

import "revnum/rev"

// Log is the kernel of revlinalg.Log over real numbers,
//
//	y_i += log(x_i)
//
// with the derivatives
//
//	x̄ += ȳ/x,  ẏ += ẋ/x,  ġx += ġy/x - ẋ·ȳ/x².
//
// If an element of X is zero or negative, all passes return a *rev.DomainError with the index of
// the first, and change nothing. NaN is passed on. A pass waits for this check. In floating
// point the logarithm is within a unit in the last place, and in fixed point within 0.51
// units.
type Log[T rev.Real] struct {
	Y Vector[T] `rev:"acc" shape:"n"`
	X Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device or a *rev.DomainError.
func (k Log[T]) Run(p rev.Pass[Log[T]]) error {
	w := begin(&k, &p)
	elementwise[T](k).run(&w, "log", positive, p.Sign(), elementwise[T](p.G), elementwise[T](p.T), elementwise[T](p.GT))
	return w.end()
}
