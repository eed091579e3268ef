package cuda

import "revnum/rev"

// Axpy is the kernel
//
//	Y += α·X
//
// of revlinalg.Axpy over real numbers, with the derivatives
//
//	ᾱ += Σ x_i·ȳ_i,  x̄ += α·ȳ,  ẏ += α̇·x + α·ẋ
//
// and, of second order,
//
//	ġα += Σ x_i·ġy_i + ẋ_i·ȳ_i,  ġx += α·ġy + α̇·ȳ.
//
// Each product is rounded once, and then added. The sum for ᾱ is that of Dot.
type Axpy[T rev.Real] struct {
	Y     Vector[T] `rev:"acc" shape:"n"`
	Alpha *T        `rev:"in"`
	X     Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k Axpy[T]) Run(p rev.Pass[Axpy[T]]) error {
	w := begin(&k, &p)
	g, t, gt, sign := &p.G, &p.T, &p.GT, p.Sign()
	addScaled(&w, k.Y, sign, k.Alpha, k.X)
	addTwoScaled(&w, t.Y, sign, k.Alpha, t.X, t.Alpha, k.X)
	if t.Alpha != nil {
		addScaled(&w, gt.X, 1, t.Alpha, g.Y)
	}
	addDot(&w, g.Alpha, 1, k.X, g.Y)
	addScaled(&w, g.X, 1, k.Alpha, g.Y)
	addDot(&w, gt.Alpha, 1, k.X, gt.Y)
	addDot(&w, gt.Alpha, 1, t.X, g.Y)
	addScaled(&w, gt.X, 1, k.Alpha, gt.Y)
	return w.end()
}
