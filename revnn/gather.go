package revnn

import (
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

// gatherRun is Run of Gather. It returns no error.
func gatherRun[T rev.Number](k *Gather[T], p *rev.Pass[Gather[T]]) error {
	for i, r := range k.Index {
		if r < 0 || r >= k.X.Rows {
			panic(rev.Misuse[Gather[T]](mat.ErrRowAccess, "Index", "has %d at %d, want 0 to %d", r, i, k.X.Rows-1))
		}
	}
	w := workspace.Get[*gatherPass[T]]()
	*w = gatherPass[T]{k: *k, g: p.G, t: p.T, gt: p.GT, sign: p.Sign(), rows: 1 + gatherElements/max(1, k.X.Cols)}
	workers := parallel.Workers(k.Workers)
	if k.Y.Data != nil || p.T.Y.Data != nil && p.T.X.Data != nil {
		parallel.Run(workers, (k.Y.Rows+w.rows-1)/w.rows, w)
	}
	if p.G.X.Data != nil || p.GT.X.Data != nil {
		w.gradient = true
		parallel.Run(workers, (k.X.Cols+gatherColumns-1)/gatherColumns, w)
	}
	*w = gatherPass[T]{} // without the caller's storage
	workspace.Put(w)
	return nil
}

const (
	gatherElements = 1 << 13 // about how many elements of Y a worker takes at a time
	gatherColumns  = 128     // columns of a gradient, which are all rows' own
)

// A gatherPass is a pass of Gather in progress.
type gatherPass[T rev.Number] struct {
	k, g, t, gt Gather[T]
	sign        int
	rows        int // of Y, that a worker takes at a time
	gradient    bool
}

// Block works on a block of rows of Y, or on a block of columns of the gradient.
func (w *gatherPass[T]) Block(_, b int) {
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
func (w *gatherPass[T]) gather(y, x rev.General[T], lo, hi int) {
	if y.Data == nil || x.Data == nil {
		return
	}
	for i := lo; i < hi; i++ {
		addRow(w.sign, y.Row(i), x.Row(w.k.Index[i]))
	}
}

// scatter adds the columns lo, ..., hi-1 of the rows of y to those of x, unless x or y is
// nil.
func (w *gatherPass[T]) scatter(x, y rev.General[T], lo, hi int) {
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
	case len(x) < 8, number.IsComplex[T]() && len(x) < 16, number.IsFixed[T]():
		if sign < 0 {
			for i, v := range x {
				y[i] -= v
			}
			return
		}
		for i, v := range x {
			y[i] += v
		}
	case number.IsComplex[T]():
		vec.Axpy(float64(sign), parts(x), parts(y))
	case unsafe.Sizeof(T(0)) == 4:
		vec.Axpy(float32(sign), number.As[[]float32](x), number.As[[]float32](y))
	default:
		vec.Axpy(float64(sign), number.As[[]float64](x), number.As[[]float64](y))
	}
}

// parts returns the real and imaginary parts of x, of type []complex128, in its storage.
func parts[T rev.Number](x []T) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
}
