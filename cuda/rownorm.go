package cuda

import (
	"unsafe"

	"revnum/fixed"
	"revnum/rev"
)

// A rowNorm has the operands of LayerNorm or RMSNorm, of which the second has no bias.
type rowNorm[T rev.Real] struct {
	y, x       General[T]
	gain, bias Vector[T]
}

// A rowNumbers has the size of type RowNorm of kernels/rownorm.cu: mean, rho, along and drift.
type rowNumbers [4]float64

// normEpsilon returns ε, and no less than makes 1/√ε a number, as the parameter of a kernel. It panics
// unless ε is a number that is not negative.
func normEpsilon[K any, T rev.Real](epsilon float64) uint64 {
	if !(epsilon >= 0) {
		panic(rev.ShapeError[K]("Epsilon", "is %v, want a number that is not negative", epsilon))
	}
	least := 0x1p-1022
	switch any(*new(T)).(type) {
	case float32:
		least = 0x1p-126
	case fixed.Q43:
		least = 0x1p-38
	}
	if epsilon == 0 {
		epsilon = 1e-5
	}
	of := fixed.Of[T](max(epsilon, least))
	if v, ok := any(of).(float32); ok {
		return rawBits(float64(v))
	}
	return rawBits(of)
}

// run makes a pass. A launch does the rows, and two each of the gradients by γ, which are sums over rows.
func (k rowNorm[T]) run(w *pass, centered bool, epsilon uint64, sign int, g, t, gt rowNorm[T]) {
	n, c := k.x.Rows, k.x.Cols
	if n == 0 || c == 0 {
		return
	}
	var norms uint64
	if g.gain.Data != nil || gt.gain.Data != nil || g.bias.Data != nil || gt.bias.Data != nil {
		columnRoom[T](w, n, c)
		norms = uint64(w.room(2, n*int(unsafe.Sizeof(rowNumbers{}))))
	}
	name, on := rowLaunch("norm", n, c)
	params := rowParams(k.y, t.y, k.x, t.x, g.x, gt.x, g.y, gt.y)
	for _, v := range [...]Vector[T]{k.gain, k.bias, t.gain, t.bias} {
		data, inc := v.params()
		params = append(params, data, inc)
	}
	kind := forwardPass
	switch tangent, adjoint := t.y.Data != nil, g.x.Data != nil || norms != 0; {
	case isFixed[T](), tangent && adjoint, gt.x.Data != nil || gt.gain.Data != nil:
		kind = wholePass
	case tangent:
		kind = tangentPass
	case adjoint:
		kind = adjointPass
	}
	w.launch(typed[T](name+kind), on, append(params, norms, uint64(n), uint64(c), uint64(sign), epsilon, bit(centered))...)
	k.addGain(w, g.gain, g.y, General[T]{}, General[T]{}, norms)
	k.addGain(w, gt.gain, gt.y, g.y, t.x, norms)
	addColumns(w, g.bias, g.y, Vector[T]{}, true)
	addColumns(w, gt.bias, gt.y, Vector[T]{}, true)
}

// addGain computes y_j += Σ_i a_ij·u_ij + b_ij·u̇_ij, where an a, b or ẋ that is nil counts as zeros.
func (k rowNorm[T]) addGain(w *pass, y Vector[T], a, b, tx General[T], norms uint64) {
	if b.Data == nil || tx.Data == nil {
		b, tx = General[T]{}, General[T]{}
	}
	if y.Data == nil || a.Data == nil && b.Data == nil {
		return
	}
	n, c := k.x.Rows, k.x.Cols
	part, parts, each := columnRoom[T](w, n, c)
	on := vectorGrid(c)
	on.blocks[1] = parts
	w.launch(typed[T]("normColumns"), on, append(append([]uint64{uint64(part)}, rowParams(k.x, a, b, tx)...), norms, uint64(n), uint64(c), uint64(each))...)
	yd, yi := y.params()
	w.launch(typed[T]("columnEnd"), vectorGrid(c), yd, yi, uint64(part), uint64(parts), uint64(c))
}

// rowParams returns the addresses and strides of matrices.
func rowParams[T rev.Real](of ...General[T]) (params []uint64) {
	for _, a := range of {
		params = append(params, uint64(a.Data.address()), uint64(a.Stride))
	}
	return params
}
