package cuda

import "revnum/rev"

// The kernels Atan2 and Pow are
//
//	z_i += f(x_i, y_i)
//
// with the derivatives, where indices of f are partial derivatives,
//
//	x̄ += f_x·z̄,  ȳ += f_y·z̄,  ż += f_x·ẋ + f_y·ẏ,
//	ġx += f_x·ġz + (f_xx·ẋ + f_xy·ẏ)·z̄,  ġy += f_y·ġz + (f_xy·ẋ + f_yy·ẏ)·z̄
//
// of each element. A pass is one launch, after those that look where f is not defined.

// runBinary makes a pass of a function of kernels/binary.cu. If everywhere is set, it has a value
// for all x and y.
func (k triple[T]) runBinary(w *pass, function string, everywhere bool, sign int, g, t, gt triple[T]) {
	if k.X.N == 0 {
		return
	}
	order := 0
	switch {
	case gt.hasInput() && t.hasInput() && g.Z.Data != nil:
		order = 2
	case t.hasInput() && t.Z.Data != nil, g.hasInput() && g.Z.Data != nil, gt.hasInput() && gt.Z.Data != nil:
		order = 1
	}
	outside := uint64(0)
	if order > 0 || !everywhere {
		outside = k.firstUndefined(w, function, order)
	}
	k.run(w, function, outside, sign, g, t, gt)
	if i := w.outside(outside, k.X.N); i >= 0 {
		w.fail(&rev.DomainError{Func: function, Args: []float64{elementOf(w, k.X, i), elementOf(w, k.Y, i)}, Index: i, Order: order})
	}
}

func (k triple[T]) hasInput() bool { return k.X.Data != nil || k.Y.Data != nil }

// firstUndefined does what firstOutside does, for the first element for which the function does not
// have derivatives up to the order.
func (k triple[T]) firstUndefined(w *pass, function string, order int) uint64 {
	grid := vectorGrid(k.X.N)
	x, incx := k.X.params()
	y, incy := k.Y.params()
	w.launch(typed[T](function+"Undefined"), grid, w.parts(), x, incx, y, incy, uint64(k.X.N), uint64(order))
	return w.leastOf(grid)
}
