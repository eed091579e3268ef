package revlinalg

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/number"
	"revnum/internal/parallel"
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
// number of workers. Workers share the columns.
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
			panic(fmt.Errorf("%w: index %d is %d, of %d rows", mat.ErrRowAccess, i, r, k.X.Rows))
		}
	}
	w := workspace.Get[gathering[T]]()
	*w = gathering[T]{k, p.G, p.T, p.GT, p.Sign()}
	parallel.Run(parallel.Workers(k.Workers), (k.X.Cols+gatherColumns-1)/gatherColumns, w)
	*w = gathering[T]{} // without the caller's storage
	workspace.Put(w)
	return nil
}

// gatherColumns is the number of columns that a worker takes at a time: eight cache lines.
const gatherColumns = 64

// A gathering is a pass of Gather in progress.
type gathering[T rev.Number] struct {
	k, g, t, gt Gather[T]
	sign        int
}

// Block works on a block of columns.
func (w *gathering[T]) Block(_, b int) {
	lo := b * gatherColumns
	n := min(gatherColumns, w.k.X.Cols-lo)
	add := func(sign int, from, to rev.General[T], source, target func(i int) int) {
		if from.Data == nil || to.Data == nil {
			return
		}
		for i := range w.k.Index {
			x, y := row(from, source(i)), row(to, target(i))
			addScaled(sign, number.One[T](), between(x, lo, n), between(y, lo, n))
		}
	}
	place, table := func(i int) int { return i }, func(i int) int { return w.k.Index[i] }
	add(w.sign, w.k.X, w.k.Y, table, place)
	add(w.sign, w.t.X, w.t.Y, table, place)
	add(1, w.g.Y, w.g.X, place, table)
	add(1, w.gt.Y, w.gt.X, place, table)
}
