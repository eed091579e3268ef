package cuda

import "revnum/rev"

// Pow is the kernel of revlinalg.Pow,
//
//	z_i += x_i^y_i
//
// with the derivatives, where l = log x,
//
//	x̄ += y·x^(y-1)·z̄,  ȳ += l·x^y·z̄,  ż += y·x^(y-1)·ẋ + l·x^y·ẏ,
//	ġx += y·x^(y-1)·ġz + (y·(y-1)·x^(y-2)·ẋ + (1 + y·l)·x^(y-1)·ẏ)·z̄,
//	ġy += l·x^y·ġz + ((1 + y·l)·x^(y-1)·ẋ + l²·x^y·ẏ)·z̄.
//
// x may be negative if y is an integer, and zero if y is not negative (0⁰ = 1). For these x the
// power is defined for isolated y only; l and (1 + y·l) then count as zero. A pass waits for a
// check. If a power, or a derivative that the pass needs, does not exist, the pass returns a
// *rev.DomainError with the index of the first such element, and changes nothing. In fixed point it
// also does so if one of the powers of x is 2²⁰ or more. NaN is passed on.
//
// In float64 the power is within 1.2 units in the last place, unless it is subnormal, and in float32
// within 0.501. (Package math, which the host uses, is less exact for a large y.) Powers and
// derivatives that overflow are infinite, without an error. If an infinite x or y makes a power zero
// and a factor beside it infinite, the derivative is zero, its limit. In fixed point all has the
// bits of the host: the power is within 0.51 units.
type Pow[T rev.Real] struct {
	Z Vector[T] `rev:"acc" shape:"n"`
	X Vector[T] `rev:"in" shape:"n"`
	Y Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device or a *rev.DomainError.
func (k Pow[T]) Run(p rev.Pass[Pow[T]]) error {
	w := begin(&k, &p)
	triple[T](k).runBinary(&w, "pow", false, p.Sign(), triple[T](p.G), triple[T](p.T), triple[T](p.GT))
	return w.end()
}
