package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/parallel"
	"revnum/internal/workspace"
	"revnum/rev"
)

// LogSumExpRows is the kernel
//
//	y_i += log Σ_j exp(X_ij)
//
// for each row i of a matrix. LogSumExp states the equations, the results for infinities,
// and the bounds in fixed point. In floating point, the sum of a row of c elements is within
// (c + 4)·ε and the rounding of max + log s. A gradient is within (c + 4)·ε and the rounding
// of X_ij - max_j X_ij. Workers share the rows.
type LogSumExpRows[T rev.Real] struct {
	Y       rev.Vector[T]  `rev:"acc" shape:"n"`
	X       rev.General[T] `rev:"in" shape:"n,c"`
	Workers int            // 0 means GOMAXPROCS
}

// NewLogSumExpRows returns the kernel over gonum's types, sharing their storage.
func NewLogSumExpRows(y *mat.VecDense, x *mat.Dense) LogSumExpRows[float64] {
	return LogSumExpRows[float64]{Y: rev.ViewVec(y), X: rev.ViewDense(x)}
}

// Forward adds log Σ exp of each row.
func (k LogSumExpRows[T]) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse subtracts log Σ exp of each row.
func (k LogSumExpRows[T]) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint does what Inverse does, and adds the gradient of each row.
func (k LogSumExpRows[T]) Adjoint(g LogSumExpRows[T]) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent does what Forward does, and adds the tangent of each row.
func (k LogSumExpRows[T]) Tangent(t LogSumExpRows[T]) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes back the tangent of Y, and adds the
// tangent of the gradient in gt.
func (k LogSumExpRows[T]) AdjointTangent(g, t, gt LogSumExpRows[T]) {
	_ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel. It returns no error.
func (k LogSumExpRows[T]) Run(p rev.Pass[LogSumExpRows[T]]) error {
	w := workspace.Get[logSumExpRows[T]]()
	*w = logSumExpRows[T]{k, p}
	parallel.Run(parallel.Workers(k.Workers), rowBlocks(k.X), w)
	*w = logSumExpRows[T]{} // without the caller's storage
	workspace.Put(w)
	return nil
}

// A logSumExpRows is a pass of LogSumExpRows in progress.
type logSumExpRows[T rev.Real] struct {
	k LogSumExpRows[T]
	p rev.Pass[LogSumExpRows[T]]
}

// Block works on a block of rows.
func (w *logSumExpRows[T]) Block(_, b int) {
	for i := range rowsOfBlock(w.k.X, b) {
		k := w.k.row(i)
		k.runPieces(rev.Pass[LogSumExp[T]]{
			Back: w.p.Back, Adjoint: w.p.Adjoint, Tangent: w.p.Tangent,
			G: w.p.G.row(i), T: w.p.T.row(i), GT: w.p.GT.row(i),
		})
	}
}

// row returns the kernel of row i.
func (k *LogSumExpRows[T]) row(i int) LogSumExp[T] {
	r := LogSumExp[T]{X: rowIn(k.X, i)}
	if k.Y.Data != nil {
		r.Out = &k.Y.Data[i*k.Y.Inc]
	}
	return r
}
