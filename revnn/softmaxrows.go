package revnn

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/vector"
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
	workers := parallel.Workers(k.Workers)
	*w = softmaxRows[T]{k: k, g: p.G, t: p.T, gt: p.GT, sign: p.Sign(), room: w.room}
	if !byRow(k.X, longSoftmax) {
		w.room = growRows(w.room, workers, k.X)
	}
	parallel.Run(workers, rowBlocks(k.X), w)
	*w = softmaxRows[T]{room: w.room} // without the caller's storage
	workspace.Put(w)
	return nil
}

// A softmaxRows is a pass of SoftmaxRows in progress.
type softmaxRows[T rev.Real] struct {
	k, g, t, gt SoftmaxRows[T]
	sign        int
	room        []rowExponentials[T] // of each worker
}

// Block works on a block of rows.
func (w *softmaxRows[T]) Block(worker, b int) {
	apart := byRow(w.k.X, longSoftmax)
	lo, hi := rowsOfBlock(w.k.X, b)
	if !apart {
		w.room[worker].compute(w.k.X, lo, hi)
	}
	for i := lo; i < hi; i++ {
		if apart || !w.add(&w.room[worker], lo, i) {
			k, g, t := w.k.row(i), w.g.row(i), w.t.row(i)
			k.addPieces(T(w.sign), centered[T]{t.Y, t.X, T(w.sign)}, centered[T]{g.X, g.Y, 1})
		}
		if w.gt.X.Data == nil {
			continue
		}
		k, g, t, gt := w.k.row(i), w.g.row(i), w.t.row(i), w.gt.row(i)
		if gt.Y.Data != nil || g.Y.Data != nil && t.X.Data != nil {
			k.addGradientTangent(&g, &t, &gt)
		}
	}
}

// add adds all but the tangent of the gradient for row i, of a block that begins with row
// lo. It does nothing and returns false if an exponential is not finite.
func (w *softmaxRows[T]) add(r *rowExponentials[T], lo, i int) bool {
	p, s, ok := r.sum(w.k.X.Cols, i-lo)
	if !ok {
		return false
	}
	normalise(p, s)
	if w.k.Y.Data != nil {
		addRow(w.sign, w.k.Y.Row(i), p)
	}
	center := func(sign int, to, from rev.General[T]) {
		if to.Data == nil || from.Data == nil {
			return
		}
		x, y := from.Row(i), to.Row(i)
		mean := dotOf(p, x)
		for j, v := range p {
			y[j] += number.Signed(sign, T(v*(x[j]-mean)))
		}
	}
	center(w.sign, w.t.Y, w.t.X)
	center(1, w.g.X, w.g.Y)
	return true
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
	return vector.Row(m, i)
}

// rowBlocks returns the number of blocks of some 4096 elements into which the rows of x are
// cut. rowsOfBlock returns the rows of one block.
func rowBlocks[T any](x rev.General[T]) int {
	n := rowsInBlock(x)
	return (x.Rows + n - 1) / n
}

func rowsInBlock[T any](x rev.General[T]) int { return 1 + 4096/max(1, x.Cols) }

func rowsOfBlock[T any](x rev.General[T], b int) (lo, hi int) {
	n := rowsInBlock(x)
	return b * n, min((b+1)*n, x.Rows)
}
