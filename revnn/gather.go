package revnn

import (
	"fmt"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// Gather is the kernel
//
//	Y_ij += X_{Index[i], j}
//
// that adds rows of a table X to the rows of Y. Networks call this an embedding. A row of X
// may occur in Index several times. With ĠY the tangent of Ȳ, the derivatives are
//
//	X̄_{Index[i]} += Ȳ_i,  Ẏ_i += Ẋ_{Index[i]},  ĠX_{Index[i]} += ĠY_i.
//
// Gather rounds only sums. It sums the gradient of a row in the order of Index, for any
// number of workers. Workers share the rows of Y, and the columns of gradients.
//
// All passes panic with an error that wraps mat.ErrRowAccess if an index is not a row of X.
type Gather[T rev.Number] struct {
	Y       rev.General[T] `rev:"acc" shape:"n,d"`
	X       rev.General[T] `rev:"in" shape:"r,d"`
	Index   []int          `rev:"index" shape:"n"`
	Workers int            // 0 means GOMAXPROCS
}

// NewGather returns the kernel over gonum matrices, sharing their storage.
func NewGather(y, x *mat.Dense, index []int) Gather[float64] {
	return Gather[float64]{Y: rev.ViewDense(y), X: rev.ViewDense(x), Index: index}
}

// Forward adds rows of X to Y.
func (k Gather[T]) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse subtracts rows of X from Y.
func (k Gather[T]) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint does what Inverse does, and adds rows of Ȳ to those of X̄.
func (k Gather[T]) Adjoint(g Gather[T]) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent does what Forward does, and adds rows of Ẋ to Ẏ.
func (k Gather[T]) Tangent(t Gather[T]) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes back the tangent of Y, and adds the
// tangent of the gradient in gt.
func (k Gather[T]) AdjointTangent(g, t, gt Gather[T]) {
	_ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel. It returns no error.
func (k Gather[T]) Run(p rev.Pass[Gather[T]]) error {
	for i, r := range k.Index {
		if r < 0 || r >= k.X.Rows {
			panic(fmt.Errorf("%w: revnn.Gather: Index[%d] is %d, of %d rows", mat.ErrRowAccess, i, r, k.X.Rows))
		}
	}
	w := workspace.Get[gathering[T]]()
	*w = gathering[T]{k: k, g: p.G, t: p.T, gt: p.GT, sign: p.Sign(), rows: 1 + gatherElements/max(1, k.X.Cols)}
	workers := parallel.Workers(k.Workers)
	if k.Y.Data != nil || p.T.Y.Data != nil && p.T.X.Data != nil {
		parallel.Run(workers, (k.Y.Rows+w.rows-1)/w.rows, w)
	}
	if p.G.X.Data != nil || p.GT.X.Data != nil {
		w.gradient = true
		parallel.Run(workers, (k.X.Cols+gatherColumns-1)/gatherColumns, w)
	}
	*w = gathering[T]{} // without the caller's storage
	workspace.Put(w)
	return nil
}

const (
	gatherElements = 1 << 13 // about how many elements of Y a worker takes at a time
	gatherColumns  = 128     // columns of a gradient, which are all rows' own
)

// A gathering is a pass of Gather in progress.
type gathering[T rev.Number] struct {
	k, g, t, gt Gather[T]
	sign        int
	rows        int // of Y, that a worker takes at a time
	gradient    bool
}

// Block works on a block of rows of Y, or on a block of columns of the gradient.
func (w *gathering[T]) Block(_, b int) {
	if w.gradient {
		lo := b * gatherColumns
		hi := min(lo+gatherColumns, w.k.X.Cols)
		w.scatter(w.g.X, w.g.Y, lo, hi)
		w.scatter(w.gt.X, w.gt.Y, lo, hi)
		return
	}
	lo := b * w.rows
	hi := min(lo+w.rows, w.k.Y.Rows)
	w.gather(w.k.Y, w.k.X, lo, hi)
	w.gather(w.t.Y, w.t.X, lo, hi)
}

// gather adds rows of x, with the sign of the pass, to the rows lo, ..., hi-1 of y, unless
// x or y is nil.
func (w *gathering[T]) gather(y, x rev.General[T], lo, hi int) {
	if y.Data == nil || x.Data == nil {
		return
	}
	for i := lo; i < hi; i++ {
		addRow(w.sign, y.Row(i), x.Row(w.k.Index[i]))
	}
}

// scatter adds the columns lo, ..., hi-1 of the rows of y to those of x, unless x or y is
// nil.
func (w *gathering[T]) scatter(x, y rev.General[T], lo, hi int) {
	if y.Data == nil || x.Data == nil {
		return
	}
	for i, r := range w.k.Index {
		addRow(1, x.Row(r)[lo:hi], y.Row(i)[lo:hi])
	}
}

// addRow adds sign·x to y.
func addRow[T rev.Number](sign int, y, x []T) {
	switch {
	case number.IsFixed[T](), number.IsComplex[T](), len(x) < 8:
		if sign < 0 {
			for i, v := range x {
				y[i] -= v
			}
			return
		}
		for i, v := range x {
			y[i] += v
		}
	case unsafe.Sizeof(T(0)) == 4:
		vec.Axpy(float32(sign), number.As[[]float32](x), number.As[[]float32](y))
	default:
		vec.Axpy(float64(sign), number.As[[]float64](x), number.As[[]float64](y))
	}
}
