package cuda

import (
	"unsafe"

	"revnum/fixed"
	"revnum/rev"
)

// The kernels Exp, Log, Sqrt, Sin, Cos, Abs, Sigmoid, Tanh, Softplus, GELU and SiLU are
//
//	y_i += f(x_i)
//
// with the derivatives
//
//	x̄ += f′(x)·ȳ,  ẏ += f′(x)·ẋ,  ġx += f′(x)·ġy + f″(x)·ẋ·ȳ
//
// of each element. Each has a file of its own. A pass is one launch, which reads X once.

// elementwise has the operands of these kernels.
type elementwise[T rev.Real] struct{ Y, X Vector[T] }

// The kinds of passes that have a kernel of their own, as in kernels/vector.h. Over Q43 there is one
// for all.
const (
	forwardPass = "Forward"
	tangentPass = "Tangent"
	adjointPass = "Adjoint"
	wholePass   = "All"
)

// A domain is where a function is defined, as in kernels/map.cu.
type domain uint64

const (
	notNegative domain = iota
	positive
	notZero
	everywhere
)

// run makes a pass of the function that is a kernel of kernels/map.cu. Operands that are
// absent are nil. If the function is not defined everywhere, a kernel looks for violations before. The
// derivatives of a function that is defined at 0 are not, then.
func (k elementwise[T]) run(w *pass, function string, where domain, sign int, g, t, gt elementwise[T]) {
	if k.X.N == 0 {
		return
	}
	order, outside := 0, uint64(0)
	if where != everywhere {
		switch {
		case gt.X.Data != nil && t.X.Data != nil && g.Y.Data != nil:
			order = 2
		case g.X.Data != nil && g.Y.Data != nil, t.X.Data != nil && t.Y.Data != nil, gt.X.Data != nil && gt.Y.Data != nil:
			order = 1
		}
		if order > 0 {
			where = positive
		}
		outside = firstOutside(w, k.X, where)
	}
	kind := forwardPass
	if isFixed[T]() || t.Y.Data != nil || g.X.Data != nil || gt.X.Data != nil {
		kind = wholePass
	}
	w.launch(typed[T](function+kind), mapGrid(k.X.N), append([]uint64{outside}, k.params(sign, g, t, gt)...)...)
	if i := w.outside(outside, k.X.N); i >= 0 {
		w.fail(&rev.DomainError{Func: function, Args: []float64{elementOf(w, k.X, i)}, Index: i, Order: order})
	}
}

// params returns the operands as kernels/map.cu takes them.
func (k elementwise[T]) params(sign int, g, t, gt elementwise[T]) []uint64 {
	params := [18]uint64{0: uint64(k.X.Data.address()), 1: uint64(k.X.Inc), 2: uint64(k.X.N), 3: uint64(sign)}
	for i, v := range [...]Vector[T]{k.Y, t.X, t.Y, g.X, g.Y, gt.X, gt.Y} {
		params[4+2*i], params[5+2*i] = v.params()
	}
	return params[:]
}

// rectify makes a pass of y += s(x)·x, where s is 1 for x > 0 and NaN, and the slope elsewhere.
func (k elementwise[T]) rectify(w *pass, slope T, sign int, g, t, gt elementwise[T]) {
	if k.X.N > 0 {
		w.launch(typed[T]("rectify"), mapGrid(k.X.N), append([]uint64{rawBits(slope)}, k.params(sign, g, t, gt)...)...)
	}
}

// firstOutside computes the index of the first element of x outside a domain, or x.N, and returns
// where the kernel of the pass finds it. That does nothing if the index is less than x.N. So the
// pass need not wait for the index before it launches the kernel. It calls outside afterwards.
func firstOutside[T rev.Real](w *pass, x Vector[T], where domain) uint64 {
	g := vectorGrid(x.N)
	xd, xi := x.params()
	w.launch(typed[T]("firstBad"), g, w.parts(), xd, xi, uint64(x.N), uint64(where))
	return w.leastOf(g)
}

// leastOf computes the least of the indices that the blocks of a grid have stored.
func (w *pass) leastOf(g grid) uint64 {
	at := w.number(0)
	w.launch("leastEnd", oneBlock(g), at, w.parts(), uint64(g.blocks[0]))
	w.ask(at)
	return at
}

// outside waits for the index that was computed at an address, and returns it, or -1 if it is n. It
// returns -1 if the address is 0.
func (w *pass) outside(at uint64, n int) int {
	if at == 0 {
		return -1
	}
	i := int(w.answer())
	if w.err != nil || i >= n {
		return -1
	}
	return i
}

// elementOf returns an element of x.
func elementOf[T rev.Real](w *pass, x Vector[T], i int) float64 {
	var v [1]T
	get(w, v[:], x.Data.address()+uintptr(i)*uintptr(x.Inc)*unsafe.Sizeof(v))
	return fixed.Float(v[0])
}
