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

// run makes a pass. A launch does the rows, and three the gradients by γ and β, which are sums over rows.
func (k rowNorm[T]) run(w *pass, centered bool, epsilon uint64, sign int, g, t, gt rowNorm[T]) {
	n, c := k.x.Rows, k.x.Cols
	if n == 0 || c == 0 {
		return
	}
	var norms uint64
	if g.gain.Data != nil || gt.gain.Data != nil || g.bias.Data != nil || gt.bias.Data != nil {
		columnRoom[T](w, n, 2*c)
		norms = uint64(w.room(2, n*int(unsafe.Sizeof(rowNumbers{}))))
	}
	params := rowParams(k.y, t.y, k.x, t.x, g.x, gt.x, g.y, gt.y)
	for _, v := range [...]Vector[T]{k.gain, k.bias, t.gain, t.bias} {
		data, inc := v.params()
		params = append(params, data, inc)
	}
	kind := forwardPass
	switch tangent, adjoint := t.y.Data != nil, g.x.Data != nil || norms != 0; {
	case c > heldColumns*longThreads(), tangent && adjoint, gt.x.Data != nil || gt.gain.Data != nil:
		kind = wholePass
	case tangent:
		kind = tangentPass
	case adjoint:
		kind = adjointPass
	}
	name, on := rowLaunch("norm", n, c)
	if kind != wholePass {
		name, on = heldRows("norm", n, c)
	}
	w.launch(typed[T](name+kind), on, append(params, norms, uint64(n), uint64(c), uint64(sign), epsilon, bit(centered))...)
	k.addGradients(w, g, g.y, General[T]{}, General[T]{}, norms)
	k.addGradients(w, gt, gt.y, g.y, t.x, norms)
}

// longThreads is the most threads of a block whose threads hold heldColumns columns each.
func longThreads() int { return 4 * bounds.threads }

const heldColumns = 8 // as in kernels/held.h

// heldRows is rowLaunch for rows that warps or blocks hold. Threads of a block are a power of two.
func heldRows(function string, n, c int) (name string, on grid) {
	if c <= warp*heldColumns {
		inBlock := maxThreads / warp
		return function + "Rows", grid{[3]int{(n + inBlock - 1) / inBlock, 1, 1}, [3]int{maxThreads, 1, 1}}
	}
	threads := 2 * warp
	for threads*heldColumns < c {
		threads *= 2
	}
	return function + "LongRows", grid{[3]int{n, 1, 1}, [3]int{threads, 1, 1}}
}

// addGradients adds Σ_i a_ij·u_ij + b_ij·u̇_ij to that of γ_j, and Σ_i a_ij to that of β_j. An a, b or ẋ that is nil
// counts as zeros.
func (k rowNorm[T]) addGradients(w *pass, to rowNorm[T], a, b, tx General[T], norms uint64) {
	if b.Data == nil || tx.Data == nil || to.gain.Data == nil {
		b, tx = General[T]{}, General[T]{}
	}
	if a.Data == nil && b.Data == nil || to.gain.Data == nil && to.bias.Data == nil {
		return
	}
	n, c := k.x.Rows, k.x.Cols
	part, parts, each := columnRoom[T](w, n, 2*c)
	ones := part + uintptr(parts*c*int(unsafe.Sizeof(*new(T))))
	on := vectorGrid(c)
	on.blocks[1] = parts
	w.launch(typed[T]("normColumns"), on, append(append([]uint64{uint64(part), uint64(ones)}, rowParams(k.x, a, b, tx)...), norms, uint64(n), uint64(c), uint64(each))...)
	for _, sums := range [...]struct {
		to Vector[T]
		at uintptr
	}{{to.gain, part}, {to.bias, ones}} {
		if sums.to.Data != nil {
			data, inc := sums.to.params()
			w.launch(typed[T]("columnEnd"), vectorGrid(c), data, inc, uint64(sums.at), uint64(parts), uint64(c))
		}
	}
}

// rowParams returns the addresses and strides of matrices.
func rowParams[T rev.Real](of ...General[T]) (params []uint64) {
	for _, a := range of {
		params = append(params, uint64(a.Data.address()), uint64(a.Stride))
	}
	return params
}
