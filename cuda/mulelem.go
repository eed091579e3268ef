package cuda

import "revnum/rev"

// MulElem is the kernel of revlinalg.MulElem over real numbers,
//
//	z_i += x_i·y_i
//
// of vectors of the same length (also called the Hadamard product), with the derivatives
//
//	x̄ += y·z̄,  ȳ += x·z̄,  ż += ẋ·y + x·ẏ,  ġx += y·ġz + ẏ·z̄,  ġy += x·ġz + ẋ·z̄.
//
// Each product is rounded once, and then added. It has the bits of the host.
type MulElem[T rev.Real] struct {
	Z Vector[T] `rev:"acc" shape:"n"`
	X Vector[T] `rev:"in" shape:"n"`
	Y Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k MulElem[T]) Run(p rev.Pass[MulElem[T]]) error {
	w := begin(&k, &p)
	triple[T](k).run(&w, "multiply", 0, p.Sign(), triple[T](p.G), triple[T](p.T), triple[T](p.GT))
	return w.end()
}

// triple has the operands of MulElem, DivElem, Atan2 and Pow.
type triple[T rev.Real] struct{ Z, X, Y Vector[T] }

// run makes a pass of a function of kernels/elements.cu or kernels/binary.cu, unless an element is
// outside, as firstOutside says.
func (k triple[T]) run(w *pass, function string, outside uint64, sign int, g, t, gt triple[T]) {
	if k.X.N == 0 {
		return
	}
	kind := forwardPass
	switch tangent, adjoint := t.Z.Data != nil && t.hasInput(), g.Z.Data != nil && g.hasInput(); {
	case isFixed[T]() || gt.hasInput() || tangent && adjoint:
		kind = wholePass
	case tangent:
		kind = tangentPass
	case adjoint:
		kind = adjointPass
	}
	params := append(make([]uint64, 0, 27), outside, uint64(k.X.N), uint64(sign))
	for _, o := range [...]triple[T]{k, g, t, gt} {
		for _, v := range [...]Vector[T]{o.Z, o.X, o.Y} {
			data, inc := v.params()
			params = append(params, data, inc)
		}
	}
	w.launch(typed[T](function+kind), mapGrid(k.X.N), params...)
}
