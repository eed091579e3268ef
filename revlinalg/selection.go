package revlinalg

import (
	"revnum/internal/elementwise"
	"revnum/internal/parallel"
	"revnum/internal/workspace"
	"revnum/rev"
)

// The kernels Clip, MaxElem, MinElem and Where add one of several numbers to each element. Their
// derivatives are those of this number, so they have no second derivatives.

// A selector is such a kernel. add makes its pass for n elements from lo on.
type selector[K any] interface {
	add(lo, n, sign int, g, t, gt *K)
}

// A selection is a pass of a selector in progress.
type selection[K selector[K]] struct {
	k, g, t, gt K
	n, sign     int
}

// choose makes the pass p of k, which has n elements.
func choose[K selector[K]](k K, p rev.Pass[K], n, workers int) {
	w := workspace.Get[*selection[K]]()
	*w = selection[K]{k, p.G, p.T, p.GT, n, p.Sign()}
	parallel.Run(parallel.Workers(workers), (n+elementwise.BlockSize-1)/elementwise.BlockSize, w)
	*w = selection[K]{} // without the caller's storage
	workspace.Put(w)
}

// Block works on a block of elements.
func (w *selection[K]) Block(_, block int) {
	lo := block * elementwise.BlockSize
	w.k.add(lo, min(elementwise.BlockSize, w.n-lo), w.sign, &w.g, &w.t, &w.gt)
}

// packed reports whether vectors of floats have no gaps.
func packed[T rev.Real](vs ...rev.Vector[T]) bool {
	for _, v := range vs {
		if v.Inc != 1 {
			return false
		}
	}
	return true
}
