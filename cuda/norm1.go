package cuda

import "revnum/rev"

// Norm1 is the kernel
//
//	Out += ‖x‖₁ = Σ |x_i|
//
// of revlinalg.Norm1 over real numbers, with the derivatives, where sign(0) = 0 (the subgradient of
// least norm),
//
//	x̄ += Ōut·sign(x),  Ȯut += Σ sign(x_i)·ẋ_i,  ġx += ġOut·sign(x).
//
// In floating point the sum is within n·ε times itself. In fixed point all is exact, and wraps.
type Norm1[T rev.Real] struct {
	Out *T        `rev:"acc"`
	X   Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k Norm1[T]) Run(p rev.Pass[Norm1[T]]) error {
	w := begin(&k, &p)
	xd, xi := k.X.params()
	on := vectorGrid(k.X.N)
	tout, tx := p.T.Out, p.T.X
	if tout == nil || tx.Data == nil {
		tout, tx = nil, Vector[T]{}
	}
	if k.Out != nil || tout != nil {
		yd, yi := tx.params()
		w.launch(typed[T]("norm1Parts"), on, w.parts(), xd, xi, yd, yi, uint64(k.X.N))
		w.launch(typed[T]("norm1End"), oneBlock(on), pointer(k.Out), pointer(tout), uint64(p.Sign()), w.parts(), uint64(on.blocks[0]))
	}
	for _, g := range [...]Norm1[T]{p.G, p.GT} {
		if g.Out != nil && g.X.Data != nil {
			yd, yi := g.X.params()
			w.launch(typed[T]("addSigns"), mapGrid(k.X.N), yd, yi, pointer(g.Out), xd, xi, uint64(k.X.N))
		}
	}
	return w.end()
}
