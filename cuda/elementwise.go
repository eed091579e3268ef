package cuda

import (
	"slices"
	"unsafe"

	"revnum/fixed"
	"revnum/rev"
)

// The kernels Exp, Log, Sqrt, Sigmoid and Tanh are
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

// A domain says where a function is not defined.
type domain int

const (
	everywhere  domain = iota
	notNegative        // the derivatives are not defined at 0
	positive
)

// run makes a pass of the function that is a kernel of kernels/map.cu. Operands that are
// absent are nil. The kernel that tells the domain's violations is waited for.
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
		checkDomain(w, function, k.X, where == positive || order > 0, order)
	}
	params := [18]uint64{0: uint64(k.X.Data.address()), 1: uint64(k.X.Inc), 2: uint64(k.X.N), 3: uint64(sign)}
	for i, v := range [...]Vector[T]{k.Y, t.X, t.Y, g.X, g.Y, gt.X, gt.Y} {
		params[4+2*i], params[5+2*i] = v.params()
	}
	w.launch(typed[T](function), vectorGrid(k.X.N), params[:]...)
}

// checkDomain ends the pass with a *rev.DomainError if an element of x is negative, or, if
// strict is set, zero.
func checkDomain[T rev.Real](w *pass, function string, x Vector[T], strict bool, order int) {
	g := vectorGrid(x.N)
	bad := w.room(0, partBytes)
	n := uint64(0)
	if strict {
		n = 1
	}
	w.launch(typed[T]("firstBad"), g, uint64(bad), uint64(x.Data.address()), uint64(x.Inc), uint64(x.N), n)
	var found [maxBlocks]int64
	get(w, found[:g.blocks[0]], bad)
	i := int(slices.Min(found[:g.blocks[0]])) // of a block, whose elements are not contiguous
	if w.err != nil || i >= x.N {
		return
	}
	var v [1]T
	get(w, v[:], x.Data.address()+uintptr(i)*uintptr(x.Inc)*unsafe.Sizeof(v))
	if w.err == nil {
		w.err = &rev.DomainError{Func: function, Args: []float64{fixed.Float(v[0])}, Index: i, Order: order}
	}
}
