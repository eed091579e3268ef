package cuda

import "revnum/rev"

// Norm2 is the kernel
//
//	Out += ‖x‖ = √(Σ x_i²)
//
// of revlinalg.Norm2 over real numbers, with the derivatives, where u = x/‖x‖ and r = Σ u_i·ẋ_i,
//
//	x̄ += Ōut·u,  Ȯut += Σ u_i·ẋ_i,  ġx += ġOut·u + Ōut·(ẋ - r·u)/‖x‖.
//
// At x = 0 they are zero, the subgradient of least norm. No square overflows or underflows
// unless the norm does. In floating point the norm is within (n+2)·ε times itself. In fixed
// point it has the bits of the host, as all derivatives have.
type Norm2[T rev.Real] struct {
	Out *T        `rev:"acc"`
	X   Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k Norm2[T]) Run(p rev.Pass[Norm2[T]]) error {
	w := begin(&k, &p)
	g, t, gt, n := &p.G, &p.T, &p.GT, uint64(k.X.N)
	norm, rate, done := w.number(0), w.number(1), w.number(2)
	xd, xi := k.X.params()
	on := vectorGrid(k.X.N)
	blocks := uint64(on.blocks[0])
	td, ti := t.X.params()
	along := td != 0 && (t.Out != nil || gt.X.Data != nil)
	if !along {
		td, ti = 0, 0
	}
	w.launch(typed[T]("norm2Parts"), on, w.parts(), xd, xi, td, ti, n)
	w.launch(typed[T]("norm2End"), oneBlock(on), norm, pointer(k.Out), uint64(p.Sign()), rate, pointer(t.Out), done, w.parts(), blocks)
	if along { // if the range of floats is too small for the sum of x_i·ẋ_i, and over Q43
		w.launch(typed[T]("alongParts"), on, w.parts(), xd, xi, td, ti, n, norm, done)
		w.launch(typed[T]("alongEnd"), oneBlock(on), rate, pointer(t.Out), uint64(p.Sign()), done, w.parts(), blocks)
	}
	addUnit := func(to Vector[T], alpha *T) {
		if to.Data != nil && alpha != nil {
			yd, yi := to.params()
			w.launch(typed[T]("addUnit"), mapGrid(k.X.N), yd, yi, pointer(alpha), xd, xi, n, norm)
		}
	}
	addUnit(g.X, g.Out)
	addUnit(gt.X, gt.Out)
	if td != 0 && g.Out != nil && gt.X.Data != nil {
		yd, yi := gt.X.params()
		w.launch(typed[T]("addTurn"), mapGrid(k.X.N), yd, yi, pointer(g.Out), td, ti, rate, xd, xi, n, norm)
	}
	return w.end()
}
