package cuda

import "revnum/rev"

// NormInf is the kernel
//
//	Out += ‖x‖_∞ = max |x_i|
//
// of revlinalg.NormInf over real numbers, with the derivatives, where m is the index of the first
// element of that magnitude,
//
//	x̄_m += Ōut·sign(x_m),  Ȯut += sign(x_m)·ẋ_m,  ġx_m += ġOut·sign(x_m).
//
// If all elements are zero, they are zero. If an element is NaN, m is the first such. The norm is
// exact.
type NormInf[T rev.Real] struct {
	Out *T        `rev:"acc"`
	X   Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k NormInf[T]) Run(p rev.Pass[NormInf[T]]) error {
	w := begin(&k, &p)
	g, t, gt := &p.G, &p.T, &p.GT
	xd, xi := k.X.params()
	td, ti := t.X.params()
	gd, gi := g.X.params()
	gtd, gti := gt.X.params()
	on := vectorGrid(k.X.N)
	w.launch(typed[T]("normInfParts"), on, w.parts(), xd, xi, uint64(k.X.N))
	w.launch(typed[T]("normInfEnd"), oneBlock(on), w.parts(), uint64(on.blocks[0]), uint64(p.Sign()),
		pointer(k.Out), pointer(t.Out), td, ti, pointer(g.Out), gd, gi, pointer(gt.Out), gtd, gti)
	return w.end()
}
