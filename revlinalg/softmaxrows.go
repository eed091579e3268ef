package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/parallel"
	"revnum/internal/workspace"
	"revnum/rev"
)

// SoftmaxRows is the kernel
//
//	Y_i += softmax(X_i)
//
// for each row i of a matrix. Softmax states the equations, the bounds and the results for
// infinities. Workers share the rows.
type SoftmaxRows[T rev.Real] struct {
	Y       rev.General[T] `rev:"acc" shape:"n,c"`
	X       rev.General[T] `rev:"in" shape:"n,c"`
	Workers int            // 0 means GOMAXPROCS
}

// NewSoftmaxRows returns the kernel over gonum matrices, sharing their storage.
func NewSoftmaxRows(y, x *mat.Dense) SoftmaxRows[float64] {
	return SoftmaxRows[float64]{Y: rev.ViewDense(y), X: rev.ViewDense(x)}
}

// Forward adds the softmax of each row.
func (k SoftmaxRows[T]) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse subtracts the softmax of each row.
func (k SoftmaxRows[T]) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint does what Inverse does, and adds the gradient of each row.
func (k SoftmaxRows[T]) Adjoint(g SoftmaxRows[T]) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent does what Forward does, and adds the tangent of each row.
func (k SoftmaxRows[T]) Tangent(t SoftmaxRows[T]) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes back the tangent of Y, and adds the
// tangent of the gradient in gt.
func (k SoftmaxRows[T]) AdjointTangent(g, t, gt SoftmaxRows[T]) {
	_ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel. It returns no error.
func (k SoftmaxRows[T]) Run(p rev.Pass[SoftmaxRows[T]]) error {
	w := workspace.Get[softmaxRows[T]]()
	*w = softmaxRows[T]{k, p.G, p.T, p.GT, p.Sign()}
	parallel.Run(parallel.Workers(k.Workers), rowBlocks(k.X), w)
	*w = softmaxRows[T]{} // without the caller's storage
	workspace.Put(w)
	return nil
}

// A softmaxRows is a pass of SoftmaxRows in progress.
type softmaxRows[T rev.Real] struct {
	k, g, t, gt SoftmaxRows[T]
	sign        int
}

// Block works on a block of rows.
func (w *softmaxRows[T]) Block(_, b int) {
	for i := range rowsOfBlock(w.k.X, b) {
		k, g, t, gt := w.k.row(i), w.g.row(i), w.t.row(i), w.gt.row(i)
		k.addPieces(T(w.sign), centered[T]{t.Y, t.X, T(w.sign)}, centered[T]{g.X, g.Y, 1})
		if gt.X.Data != nil && (gt.Y.Data != nil || g.Y.Data != nil && t.X.Data != nil) {
			k.addGradientTangent(&g, &t, &gt)
		}
	}
}

// row returns the kernel of row i.
func (k *SoftmaxRows[T]) row(i int) Softmax[T] {
	return Softmax[T]{Y: rowIn(k.Y, i), X: rowIn(k.X, i)}
}

// rowIn returns row i of m, or nil if m is nil.
func rowIn[T any](m rev.General[T], i int) rev.Vector[T] {
	if m.Data == nil {
		return rev.Vector[T]{}
	}
	return row(m, i)
}

// rowBlocks returns the number of blocks of some 4096 elements into which the rows of x are
// cut. rowsOfBlock returns the rows of one block.
func rowBlocks[T any](x rev.General[T]) int {
	n := rowsInBlock(x)
	return (x.Rows + n - 1) / n
}

func rowsInBlock[T any](x rev.General[T]) int { return 1 + 4096/max(1, x.Cols) }

func rowsOfBlock[T any](x rev.General[T], b int) func(yield func(i int) bool) {
	return func(yield func(i int) bool) {
		n := rowsInBlock(x)
		for i := b * n; i < min((b+1)*n, x.Rows) && yield(i); i++ {
		}
	}
}
