package cuda

import "revnum/rev"

// LogSumExpRows is the kernel of revnn.LogSumExpRows over real numbers,
//
//	y_i += log Σ_j exp(X_ij)
//
// for each row i of a matrix. LogSumExp states the equations and the results for infinities. A pass is
// one launch: a warp has a row, or a block a long one. In fixed point all has the bits of the host. Over floats
// AdjointTangent adds rows of 257 to 8192 elements in another order than the other passes.
type LogSumExpRows[T rev.Real] struct {
	Y Vector[T]  `rev:"acc" shape:"n"`
	X General[T] `rev:"in" shape:"n,c"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k LogSumExpRows[T]) Run(p rev.Pass[LogSumExpRows[T]]) error {
	w := begin(&k, &p)
	rows[T]{
		x: k.X, tx: p.T.X, gx: p.G.X, gtx: p.GT.X, y: k.Y, ty: p.T.Y, gy: p.G.Y, gty: p.GT.Y,
	}.run(&w, "logSumExp", p.Sign())
	return w.end()
}
