package revtropical

import (
	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revsparse"
)

// SparseMul is the kernel
//
//	C_ij += max_p a_p + b_lj  over the entries p of row i of A, in column l
//
// or the minimum if Min is set. What A does not store is no path. With w the winner of
// (i, j), the first entry whose sum is best,
//
//	ā_w += c̄_ij,  b̄_lj += c̄_ij,  ċ_ij += ȧ_w + ḃ_lj,  ġa_w += ġc_ij,  ġb_lj += ġc_ij.
//
// If B is a column, C is a step of the method of Bellman and Ford.
type SparseMul[T rev.Real, I revsparse.Index] struct {
	C   rev.General[T]      `rev:"acc" shape:"m,n"`
	A   revsparse.CSR[T, I] `rev:"in" shape:"m,k"`
	B   rev.General[T]      `rev:"in" shape:"k,n"`
	Min bool
}

// NewSparseMul returns the kernel over matrices of gonum and of package sparse, sharing
// their storage.
func NewSparseMul(c *mat.Dense, a *sparse.CSR, b *mat.Dense) SparseMul[float64, int] {
	return SparseMul[float64, int]{C: rev.ViewDense(c), A: revsparse.ViewCSR(a), B: rev.ViewDense(b)}
}

// Forward computes C += A ⊗ B.
func (k SparseMul[T, I]) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse computes C -= A ⊗ B.
func (k SparseMul[T, I]) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint computes C -= A ⊗ B, and adds C̄ to the gradients of the winners.
func (k SparseMul[T, I]) Adjoint(g SparseMul[T, I]) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes C += A ⊗ B, and adds the tangents of the winners to Ċ.
func (k SparseMul[T, I]) Tangent(t SparseMul[T, I]) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes back the tangent of C, and adds the
// tangents of the gradients in gt.
func (k SparseMul[T, I]) AdjointTangent(g, t, gt SparseMul[T, I]) {
	_ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// A sparseRow has the best sums of a row of C, and the entries that win.
type sparseRow[T rev.Real] struct {
	best  []T
	label []int
}

// Run implements rev.Kernel. It returns no error.
func (k SparseMul[T, I]) Run(p rev.Pass[SparseMul[T, I]]) error {
	k.check()
	n, sign := k.B.Cols, T(p.Sign())
	w := workspace.Get[sparseRow[T]]()
	w.best, w.label = workspace.Grow(w.best, n), workspace.Grow(w.label, n)
	for i := range k.A.Rows {
		k.search(i, w.best[:n], w.label[:n])
		for j, entry := range w.label[:n] {
			if k.C.Data != nil {
				k.C.Row(i)[j] += T(sign * w.best[j])
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
				if g.C.Data == nil {
					continue
				}
				if g.A.Data != nil {
					g.A.Data[entry] += g.C.Row(i)[j]
				}
				if g.B.Data != nil {
					g.B.Row(l)[j] += g.C.Row(i)[j]
				}
			}
		}
	}
	workspace.Put(w)
	return nil
}

// check panics unless the lengths of the slices of A fit its shape and row pointers.
func (k *SparseMul[T, I]) check() {
	a := &k.A
	if a.Rows == 0 && len(a.Ptr) == 0 && len(a.Ind) == 0 && len(a.Data) == 0 {
		return
	}
	if len(a.Ptr) != a.Rows+1 || a.Ptr[0] != 0 || int(a.Ptr[a.Rows]) != len(a.Ind) || len(a.Data) != len(a.Ind) {
		panic(rev.ShapeError[SparseMul[T, I]]("A", "%d row pointers, %d columns and %d values for %d rows", len(a.Ptr), len(a.Ind), len(a.Data), a.Rows))
	}
}

// search finds the best sums of row i.
func (k *SparseMul[T, I]) search(i int, best []T, label []int) {
	for j := range best {
		best[j], label[j] = worst[T](k.Min), none
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
