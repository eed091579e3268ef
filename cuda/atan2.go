package cuda

import "revnum/rev"

// Atan2 is the kernel of revlinalg.Atan2,
//
//	z_i += atan2(x_i, y_i),
//
// the angle in [-π, π] of the point with ordinate x_i and abscissa y_i. With r² = x² + y², the
// derivatives are
//
//	x̄ += y/r²·z̄,  ȳ -= x/r²·z̄,  ż += (y·ẋ - x·ẏ)/r²
//
// and, of second order,
//
//	ġx += y/r²·ġz + ((x² - y²)·ẏ - 2xy·ẋ)/r⁴·z̄,
//	ġy -= x/r²·ġz - ((x² - y²)·ẋ + 2xy·ẏ)/r⁴·z̄.
//
// If a point is the origin, there is no derivative. A pass that needs one waits for a check,
// returns a *rev.DomainError with the index of the first such element, and changes nothing. The
// angle at the origin is that of math.Atan2, and 0 in fixed point. No r² overflows. At infinity the
// derivatives are zero, their limit. In float64 the angle is within 1.5 units in the last place,
// and in float32 within 0.501. In fixed point all has the bits of the host: the angle is within
// 0.51 units, and derivatives wrap if they are out of range.
type Atan2[T rev.Real] struct {
	Z Vector[T] `rev:"acc" shape:"n"`
	X Vector[T] `rev:"in" shape:"n"`
	Y Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device or a *rev.DomainError.
func (k Atan2[T]) Run(p rev.Pass[Atan2[T]]) error {
	w := begin(&k, &p)
	triple[T](k).runBinary(&w, "atan2", true, p.Sign(), triple[T](p.G), triple[T](p.T), triple[T](p.GT))
	return w.end()
}
