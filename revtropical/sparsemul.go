package revtropical

import (
	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"revnum/internal/parallel"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revsparse"
	"revnum/revtropical/internal/paths"
)

// SparseMul is the kernel
//
//	C_ij += max_p a_p + b_lj  over the entries p of row i of A (in column l)
//
// or the minimum if Min is set. What A does not store is no path. With w the winner of
// (i, j), the first entry whose sum is best,
//
//	ā_w += c̄_ij,  b̄_lj += c̄_ij,  ċ_ij += ȧ_w + ḃ_lj,  ġa_w += ġc_ij,  ġb_lj += ġc_ij.
//
// If B is a column, C is a step of the method of Bellman and Ford.
//
// Workers share the rows of A, and for B̄ its columns in groups of 16. The bits do not
// depend on their number. Gradients of B also need an int for each element of C.
type SparseMul[T rev.Real, I revsparse.Index] struct {
	C       rev.General[T]      `rev:"acc" shape:"m,n"`
	A       revsparse.CSR[T, I] `rev:"in" shape:"m,k"`
	B       rev.General[T]      `rev:"in" shape:"k,n"`
	Min     bool
	Workers int // 0 means GOMAXPROCS
}

// NewSparseMul returns the kernel that adds to c, over matrices of gonum and of package
// sparse, sharing their storage.
func NewSparseMul(c *mat.Dense, a *sparse.CSR, b *mat.Dense) SparseMul[float64, int] {
	return SparseMul[float64, int]{C: rev.ViewDense(c), A: revsparse.ViewCSR(a), B: rev.ViewDense(b)}
}

// sparseMulRun is Run of SparseMul. It returns no error.
func sparseMulRun[T rev.Real, I revsparse.Index](k *SparseMul[T, I], p *rev.Pass[SparseMul[T, I]]) error {
	revsparse.CheckOperand[SparseMul[T, I]](&k.A, "A")
	w := workspace.Get[*sparseProduct[T, I]]()
	w.k, w.p = *k, *p
	// Several rows of A add to a row of B̄. Its columns are therefore done later, from the
	// winners of all rows.
	byColumns := p.G.C.Data != nil && p.G.B.Data != nil || p.GT.C.Data != nil && p.GT.B.Data != nil
	workers := 1
	if len(k.A.Ind)*k.B.Cols >= parallelSums {
		workers = parallel.Workers(k.Workers)
	}
	w.winners = w.winners[:0]
	if byColumns {
		w.winners = workspace.Grow(w.winners, k.A.Rows*k.B.Cols)
	}
	w.scratch = workspace.Grow(w.scratch, workers)
	parallel.Run(workers, (k.A.Rows+sparseRows-1)/sparseRows, w)
	if byColumns {
		parallel.Run(workers, (k.B.Cols+sparseColumns-1)/sparseColumns, (*sparseGradients[T, I])(w))
	}
	w.k, w.p = SparseMul[T, I]{}, rev.Pass[SparseMul[T, I]]{}
	workspace.Put(w)
	return nil
}

const (
	sparseRows    = 64      // rows of A in a block
	sparseColumns = 16      // columns of B in a block
	parallelSums  = 1 << 15 // sums from which on a second worker pays
)

// A sparseProduct is a pass of SparseMul in progress. Its blocks are rows of A.
type sparseProduct[T rev.Real, I revsparse.Index] struct {
	k       SparseMul[T, I]
	p       rev.Pass[SparseMul[T, I]]
	winners []int          // the entries that win, row by row, if B has gradients
	scratch []sparseRow[T] // of each worker
}

// A sparseRow has the best sums of a row of C, and the entries that win.
type sparseRow[T rev.Real] struct {
	best  []T
	label []int
}

// Block computes rows of C and Ċ, and the gradients of rows of A.
func (w *sparseProduct[T, I]) Block(worker, block int) {
	k, p := &w.k, &w.p
	n, sign := k.B.Cols, T(p.Sign())
	s := &w.scratch[worker]
	s.best, s.label = workspace.Grow(s.best, n), workspace.Grow(s.label, n)
	for i := block * sparseRows; i < min((block+1)*sparseRows, k.A.Rows); i++ {
		best, label := s.best[:n], s.label[:n]
		if len(w.winners) > 0 {
			label = w.winners[i*n:][:n]
		}
		sparseMulSearch(k, i, best, label)
		for j, entry := range label {
			if k.C.Data != nil {
				k.C.Row(i)[j] += T(sign * best[j])
			}
			if entry == none {
				continue
			}
			l := int(k.A.Ind[entry])
			if p.T.C.Data != nil {
				if p.T.A.Data != nil {
					p.T.C.Row(i)[j] += T(sign * p.T.A.Data[entry])
				}
				if p.T.B.Data != nil {
					p.T.C.Row(i)[j] += T(sign * p.T.B.Row(l)[j])
				}
			}
			for _, g := range [...]*SparseMul[T, I]{&p.G, &p.GT} {
				if g.C.Data != nil && g.A.Data != nil {
					g.A.Data[entry] += g.C.Row(i)[j]
				}
			}
		}
	}
}

// sparseGradients is the part of a pass whose blocks are columns of B.
type sparseGradients[T rev.Real, I revsparse.Index] sparseProduct[T, I]

// Block computes the gradients of columns of B.
func (w *sparseGradients[T, I]) Block(_, block int) {
	n := w.k.B.Cols
	for i := range w.k.A.Rows {
		for j := block * sparseColumns; j < min((block+1)*sparseColumns, n); j++ {
			entry := w.winners[i*n+j]
			if entry == none {
				continue
			}
			l := int(w.k.A.Ind[entry])
			for _, g := range [...]*SparseMul[T, I]{&w.p.G, &w.p.GT} {
				if g.C.Data != nil && g.B.Data != nil {
					g.B.Row(l)[j] += g.C.Row(i)[j]
				}
			}
		}
	}
}

// sparseMulSearch finds the best sums of row i.
func sparseMulSearch[T rev.Real, I revsparse.Index](k *SparseMul[T, I], i int, best []T, label []int) {
	for j := range best {
		best[j], label[j] = paths.Worst[T](k.Min), none
	}
	for p := k.A.Ptr[i]; p < k.A.Ptr[i+1]; p++ {
		a := k.A.Data[p]
		for j, b := range k.B.Row(int(k.A.Ind[p])) {
			if better(a+b, best[j], k.Min) {
				best[j], label[j] = a+b, int(p)
			}
		}
	}
}
