package cuda

import "revnum/rev"

// Affine is the kernel
//
//	Y += W·X + B
//
// of revlinalg.Affine over real numbers, with the derivatives
//
//	W̄ += ȳ·xᵀ,  x̄ += Wᵀ·ȳ,  b̄ += ȳ,  ẏ += Ẇ·x + W·ẋ + ḃ
//
// and, of second order,
//
//	ġW += ġy·xᵀ + ȳ·ẋᵀ,  ġx += Wᵀ·ġy + Ẇᵀ·ȳ,  ġb += ġy.
//
// If B is nil, it counts as zero. In floating point an element of W·X is within
// (n/32+6)·ε·Σ|w_ij·x_j|, as the threads of a warp sum 32 parts. In fixed point it is exact and
// rounded once, and each product that goes into a gradient is rounded by itself, so that all
// has the bits of the host.
type Affine[T rev.Real] struct {
	Y Vector[T]  `rev:"acc" shape:"m"`
	W General[T] `rev:"in" shape:"m,n"`
	X Vector[T]  `rev:"in" shape:"n"`
	B Vector[T]  `rev:"in,optional" shape:"m"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k Affine[T]) Run(p rev.Pass[Affine[T]]) error {
	w := begin(&k, &p)
	g, t, gt, sign := &p.G, &p.T, &p.GT, p.Sign()
	if g.X.Data != nil || gt.X.Data != nil {
		columnRoom[T](&w, k.W.Rows, k.W.Cols)
	}
	addTwoRows(&w, k.Y, sign, k.W, k.X, t.Y, t.X)
	addScaled(&w, k.Y, sign, nil, k.B)
	addRows(&w, t.Y, sign, t.W, k.X)
	addScaled(&w, t.Y, sign, nil, t.B)
	k.addGradient(&w, g, g.Y)
	k.addGradient(&w, gt, gt.Y)
	addOuter(&w, gt.W, g.Y, t.X)
	addColumns(&w, gt.X, t.W, g.Y, false)
	return w.end()
}

// addGradient adds to g the gradient for the cotangent gy of Y.
func (k *Affine[T]) addGradient(w *pass, g *Affine[T], gy Vector[T]) {
	addOuter(w, g.W, gy, k.X)
	addColumns(w, g.X, k.W, gy, false)
	addScaled(w, g.B, 1, nil, gy)
}
