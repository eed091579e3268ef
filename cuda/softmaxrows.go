package cuda

import "revnum/rev"

// SoftmaxRows is the kernel of revnn.SoftmaxRows over real numbers,
//
//	Y_i += softmax(X_i)
//
// for each row i of a matrix. Softmax states the equations and the results for infinities. A pass is
// one launch: a warp has a row, or a block a long one.
//
// In float64 an element of p that is not subnormal is within
//
//	(100 + (m - x_ij) + log c + c/4)·2⁻⁵³·p_ij
//
// of the softmax of a row of c elements: a thread scales its sum when a larger element comes. If the row has up to
// 8192 elements, a thread has at most 8 of them, and the last term falls away. All passes but AdjointTangent hold such a
// row. Over floats AdjointTangent therefore adds rows of more than 256 elements in another order, and may differ
// from Adjoint and Tangent by rounding. Over float32 this is computed in float64 and rounded once. In fixed point all has
// the bits of the host.
type SoftmaxRows[T rev.Real] struct {
	Y General[T] `rev:"acc" shape:"n,c"`
	X General[T] `rev:"in" shape:"n,c"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k SoftmaxRows[T]) Run(p rev.Pass[SoftmaxRows[T]]) error {
	w := begin(&k, &p)
	if k.X.Cols > 0 { // empty rows take no memory, so there may be more than a grid has blocks for
		rows[T]{
			x: k.X, tx: p.T.X, gx: p.G.X, gtx: p.GT.X,
			y: k.Y.rows(), ty: p.T.Y.rows(), gy: p.G.Y.rows(), gty: p.GT.Y.rows(),
		}.run(&w, "softmax", p.Sign())
	}
	return w.end()
}

// rows are the operands of SoftmaxRows or LogSumExpRows. Of y and its derivatives a vector has the
// first elements of the rows.
type rows[T rev.Real] struct {
	x, tx, gx, gtx General[T]
	y, ty, gy, gty Vector[T]
}

// rows returns the first elements of the rows of a.
func (a General[T]) rows() Vector[T] { return Vector[T]{N: a.Rows, Data: a.Data, Inc: a.Stride} }

// A block has a row of more than longRow elements.
const longRow = 1024

// run makes the pass of a function of kernels/softmaxrows.cu.
func (r rows[T]) run(w *pass, function string, sign int) {
	n, c := r.x.Rows, r.x.Cols
	if n == 0 {
		return
	}
	name, g := rowLaunch(function, n, c)
	if c <= heldColumns*longThreads() && r.gtx.Data == nil && (r.ty.Data == nil || r.gx.Data == nil) {
		name, g = heldRows(function+"Held", n, c)
	}
	var params []uint64
	for _, v := range [...]Vector[T]{r.y, r.ty, r.x.rows(), r.tx.rows(), r.gx.rows(), r.gtx.rows(), r.gy, r.gty} {
		data, inc := v.params()
		params = append(params, data, inc)
	}
	w.launch(typed[T](name), g, append(params, uint64(n), uint64(c), uint64(sign))...)
}

// rowLaunch returns the name of a kernel that makes a pass of n rows of c elements, and its grid.
func rowLaunch(function string, n, c int) (name string, on grid) {
	name, inBlock := function+"Rows", maxThreads/warp
	if c > longRow {
		name, inBlock = function+"LongRows", 1
	}
	return name, grid{[3]int{min((n+inBlock-1)/inBlock, bounds.rowBlocks), 1, 1}, [3]int{maxThreads, 1, 1}}
}
