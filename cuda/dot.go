package cuda

import "revnum/rev"

// Dot is the kernel
//
//	Out += Σ x_i·y_i
//
// of revlinalg.Dot over real numbers, with the derivatives
//
//	x̄ += Ōut·y,  ȳ += Ōut·x,  Ȯut += Σ ẋ_i·y_i + x_i·ẏ_i
//
// and, of second order,
//
//	ġx += ġOut·y + Ōut·ẏ,  ġy += ġOut·x + Ōut·ẋ.
//
// The sum is of at most 1024 parts, one of a block of up to 256 threads, which are added up in the
// order of a tree. In floating point it is within (n/2¹⁸ + 30)·ε·Σ|x_i·y_i|. In fixed point it is
// exact and rounded once.
type Dot[T rev.Real] struct {
	Out *T        `rev:"acc"`
	X   Vector[T] `rev:"in" shape:"n"`
	Y   Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k Dot[T]) Run(p rev.Pass[Dot[T]]) error {
	w := begin(&k, &p)
	g, t, gt, sign := &p.G, &p.T, &p.GT, p.Sign()
	addDot(&w, k.Out, sign, k.X, k.Y)
	addDot(&w, t.Out, sign, t.X, k.Y)
	addDot(&w, t.Out, sign, k.X, t.Y)
	if g.Out != nil {
		addScaled(&w, g.X, 1, g.Out, k.Y)
		addScaled(&w, g.Y, 1, g.Out, k.X)
		addScaled(&w, gt.X, 1, g.Out, t.Y)
		addScaled(&w, gt.Y, 1, g.Out, t.X)
	}
	if gt.Out != nil {
		addScaled(&w, gt.X, 1, gt.Out, k.Y)
		addScaled(&w, gt.Y, 1, gt.Out, k.X)
	}
	return w.end()
}
