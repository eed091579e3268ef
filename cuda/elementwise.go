package cuda

import (
	"slices"
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

// A domain is where a function is defined, as in kernels/map.cu.
type domain uint64

const (
	notNegative domain = iota
	positive
	notZero
	everywhere
)

// run makes a pass of the function that is a kernel of kernels/map.cu. Operands that are
// absent are nil. If the function is not defined everywhere, the pass waits for the kernel that
// looks for violations. The derivatives of a function that is defined at 0 are not, then.
func (k elementwise[T]) run(w *pass, function string, where domain, sign int, g, t, gt elementwise[T]) {
	if k.X.N == 0 {
		return
	}
	if where != everywhere {
		order := 0
		switch {
		case gt.X.Data != nil && t.X.Data != nil && g.Y.Data != nil:
			order = 2
		case g.X.Data != nil && g.Y.Data != nil, t.X.Data != nil && t.Y.Data != nil, gt.X.Data != nil && gt.Y.Data != nil:
			order = 1
		}
		if order > 0 {
			where = positive
		}
		if i := firstOutside(w, k.X, where); i >= 0 {
			w.fail(&rev.DomainError{Func: function, Args: []float64{elementOf(w, k.X, i)}, Index: i, Order: order})
		}
	}
	w.launch(typed[T](function), vectorGrid(k.X.N), k.params(sign, g, t, gt)...)
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
		w.launch(typed[T]("rectify"), vectorGrid(k.X.N), append([]uint64{rawBits(slope)}, k.params(sign, g, t, gt)...)...)
	}
}

// firstOutside returns the index of the first element of x outside a domain, or -1.
func firstOutside[T rev.Real](w *pass, x Vector[T], where domain) int {
	g := vectorGrid(x.N)
	bad := w.room(0, partBytes)
	w.launch(typed[T]("firstBad"), g, uint64(bad), uint64(x.Data.address()), uint64(x.Inc), uint64(x.N), uint64(where))
	return leastOf(w, g, bad, x.N)
}

// leastOf returns the least of the indices that the blocks of a grid have stored, or -1 if that is
// n. It waits for them.
func leastOf(w *pass, g grid, at uintptr, n int) int {
	var found [maxBlocks]int64
	get(w, found[:g.blocks[0]], at)
	i := int(slices.Min(found[:g.blocks[0]])) // of a block, whose elements are not contiguous
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
