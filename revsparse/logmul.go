package revsparse

import (
	"sort"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/parallel"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revlinalg"
)

// LogMul is the kernel
//
//	C ⊕= A·B,  that is  c_ij' = log(e^c_ij + Σ_l e^(a_il+b_lj)),
//
// of a sparse A and dense B and C whose elements are logs (see package ulog), the
// sum being over the entries of row i of A: what is not stored is the log of zero.
// With w_ilj = e^(a_il+b_lj-c_ij'), the share of a term in the new value of c_ij,
//
//	Ā_il += Σ_j C̄_ij'·w_ilj,  B̄_lj += Σ_i C̄_ij'·w_ilj,
//	C̄_ij = C̄_ij'·e^(c_ij-c_ij'),
//	ċ_ij' = ċ_ij·e^(c_ij-c_ij') + Σ_l w_ilj·(ȧ_il + ḃ_lj).
//
// Each element of C is a revlinalg.LogDot of a row of A with what it meets of a
// column of B, and what that says of logs, accuracy and infinities holds here. For
// probabilities, as in a hidden Markov model with few transitions, the shares are
// posteriors and the gradients expected counts.
//
// The bits do not depend on the number of workers, who share the rows in blocks of about
// as many entries each. For B̄ they need as many numbers as A has entries, times the
// number of columns up to 4.
type LogMul[T rev.Float, I Index] struct {
	C rev.General[T] `rev:"inout"`
	A CSR[T, I]      `rev:"in"`
	B rev.General[T] `rev:"in"`

	Workers int // 0 means GOMAXPROCS
}

// NewLogMul returns the kernel over gonum's *mat.Dense or *mat.VecDense of logs,
// sharing their storage; another type panics. It panics with mat.ErrShape if the
// operands do not fit together.
func NewLogMul[I Index](c mat.Matrix, a CSR[float64, I], b mat.Matrix) LogMul[float64, I] {
	k := LogMul[float64, I]{C: dense(c), A: a, B: dense(b)}
	k.checkShape()
	return k
}

func (k *LogMul[T, I]) checkShape() {
	k.A.check()
	if k.C.Rows != k.A.Rows || k.B.Rows != k.A.Cols || k.C.Cols != k.B.Cols {
		panic(mat.ErrShape)
	}
}

// Forward computes C ⊕= A·B.
func (k LogMul[T, I]) Forward() {
	var none LogMul[T, I]
	k.each(&none, &none, &none, logForward)
}

// Inverse computes C ⊖= A·B.
func (k LogMul[T, I]) Inverse() {
	var none LogMul[T, I]
	k.each(&none, &none, &none, logInverse)
}

// Adjoint computes C ⊖= A·B and the cotangents of A, B and C.
func (k LogMul[T, I]) Adjoint(g LogMul[T, I]) {
	var none LogMul[T, I]
	k.each(&g, &none, &none, logAdjoint)
}

// Tangent computes C ⊕= A·B and the tangent of C.
func (k LogMul[T, I]) Tangent(t LogMul[T, I]) {
	var none LogMul[T, I]
	k.each(&none, &t, &none, logTangent)
}

// AdjointTangent undoes Tangent and computes the cotangents and their tangents.
func (k LogMul[T, I]) AdjointTangent(g, t, gt LogMul[T, I]) {
	k.each(&g, &t, &gt, logAdjointTangent)
}

// InverseAdjoint undoes Adjoint.
func (k LogMul[T, I]) InverseAdjoint(g LogMul[T, I]) {
	var none LogMul[T, I]
	k.each(&g, &none, &none, logInverseAdjoint)
}

// InverseTangent undoes Tangent.
func (k LogMul[T, I]) InverseTangent(t LogMul[T, I]) {
	var none LogMul[T, I]
	k.each(&none, &t, &none, logInverseTangent)
}

// InverseAdjointTangent undoes AdjointTangent.
func (k LogMul[T, I]) InverseAdjointTangent(g, t, gt LogMul[T, I]) {
	k.each(&g, &t, &gt, logInverseAdjointTangent)
}

const (
	logWork    = 1 << 11 // entries and rows of a block, times columns
	logColumns = 4       // that are worked on at a time where B has a cotangent
)

// A logMethod says which method of the products of elements a pass calls.
type logMethod int

const (
	logForward logMethod = iota
	logInverse
	logAdjoint
	logTangent
	logAdjointTangent
	logInverseAdjoint
	logInverseTangent
	logInverseAdjointTangent
)

// A logMulJob is a pass over rows of A and columns of B in progress.
type logMulJob[T rev.Float, I Index] struct {
	k, g, t, gt LogMul[T, I]
	do          logMethod
	blocks      int
	j0, j1      int                // the columns
	gb, gtb     []T                // of each entry of A and column, the cotangent of what it meets
	scratch     []logMulScratch[T] // of each worker
}

// logMulScratch holds what a row of A meets of a column of B, and of its tangent.
type logMulScratch[T rev.Float] struct{ b, t []T }

// each does the products of rows of A with columns of B, and what goes with them.
func (k *LogMul[T, I]) each(g, t, gt *LogMul[T, I], do logMethod) {
	rev.Check(k)
	k.checkShape()
	rev.CheckLike(k, g, t, gt)
	w := workspace.Get[logMulJob[T, I]]()
	w.k, w.g, w.t, w.gt, w.do = *k, *g, *t, *gt, do
	cols, entries := k.C.Cols, len(k.A.Ind)
	w.blocks = max(1, min((entries+k.A.Rows)*cols/logWork, mostBlocks))
	workers := min(parallel.Workers(k.Workers), w.blocks)
	for len(w.scratch) < workers {
		w.scratch = append(w.scratch, logMulScratch[T]{})
	}
	longest := 0
	for i := range k.A.Rows {
		longest = max(longest, int(k.A.Ptr[i+1]-k.A.Ptr[i]))
	}
	for i := range w.scratch[:workers] {
		s := &w.scratch[i]
		s.b, s.t = workspace.Grow(s.b, longest), workspace.Grow(s.t, longest)
	}
	step := max(1, cols)
	if g.B.Data != nil || gt.B.Data != nil {
		step = max(1, min(cols, logColumns))
	}
	if g.B.Data != nil {
		w.gb = workspace.Grow(w.gb, step*entries)
	}
	if gt.B.Data != nil {
		w.gtb = workspace.Grow(w.gtb, step*entries)
	}
	for w.j0 = 0; w.j0 < cols; w.j0 += step {
		w.j1 = min(w.j0+step, cols)
		parallel.Run(workers, w.blocks, w)
		w.scatter(g.B, w.gb)
		w.scatter(gt.B, w.gtb)
	}
	var none LogMul[T, I]
	w.k, w.g, w.t, w.gt = none, none, none, none
	workspace.Put(w)
}

// cut returns the first row of a block.
func (w *logMulJob[T, I]) cut(block int) int {
	a := &w.k.A
	if block == w.blocks {
		return a.Rows
	}
	at := (len(a.Ind) + a.Rows) / w.blocks * block
	return sort.Search(a.Rows, func(i int) bool { return int(a.Ptr[i])+i >= at })
}

// Block does a block of rows.
func (w *logMulJob[T, I]) Block(worker, block int) {
	s := &w.scratch[worker]
	for i := w.cut(block); i < w.cut(block+1); i++ {
		from, to := int(w.k.A.Ptr[i]), int(w.k.A.Ptr[i+1])
		if from == to {
			continue // the product is zero, and C what it was
		}
		ind := w.k.A.Ind[from:to]
		b, t := s.b[:len(ind)], s.t[:len(ind)]
		for j := w.j0; j < w.j1; j++ {
			gather(b, ind, w.k.B, j)
			gather(t, ind, w.t.B, j)
			var gb, gtb []T
			if w.g.B.Data != nil {
				gb = w.row(w.gb, from, to, j)
				clear(gb)
			}
			if w.gt.B.Data != nil {
				gtb = w.row(w.gtb, from, to, j)
				clear(gtb)
			}
			w.dot(w.k.dot(i, j, from, to, b), w.g.dot(i, j, from, to, gb), w.t.dot(i, j, from, to, t), w.gt.dot(i, j, from, to, gtb))
		}
	}
}

// dot does the product for an element of C.
func (w *logMulJob[T, I]) dot(k, g, t, gt revlinalg.LogDot[T]) {
	switch w.do {
	case logForward:
		k.Forward()
	case logInverse:
		k.Inverse()
	case logAdjoint:
		k.Adjoint(g)
	case logTangent:
		k.Tangent(t)
	case logAdjointTangent:
		k.AdjointTangent(g, t, gt)
	case logInverseAdjoint:
		k.InverseAdjoint(g)
	case logInverseTangent:
		k.InverseTangent(t)
	case logInverseAdjointTangent:
		k.InverseAdjointTangent(g, t, gt)
	}
}

// row returns what x has for column j and the row of A from entry from to to.
func (w *logMulJob[T, I]) row(x []T, from, to, j int) []T {
	m := w.j1 - w.j0
	return x[from*m+(j-w.j0)*(to-from):][:to-from]
}

// scatter adds x to what the entries of A meet of m, if there is m.
func (w *logMulJob[T, I]) scatter(m rev.General[T], x []T) {
	if m.Data == nil {
		return
	}
	for i := range w.k.A.Rows {
		from, to := int(w.k.A.Ptr[i]), int(w.k.A.Ptr[i+1])
		for j := w.j0; j < w.j1; j++ {
			v := w.row(x, from, to, j)
			for q, l := range w.k.A.Ind[from:to] {
				m.Data[int(l)*m.Stride+j] += v[q]
			}
		}
	}
}

// dot returns the product for element (i, j) of C, without the operands that k has
// not. The row of A is from entry from to to, and what it meets of B is in b.
func (k *LogMul[T, I]) dot(i, j, from, to int, b []T) revlinalg.LogDot[T] {
	var d revlinalg.LogDot[T]
	if k.C.Data != nil {
		d.Out = &k.C.Data[i*k.C.Stride+j]
	}
	if k.A.Data != nil {
		d.X = rev.ViewSlice(k.A.Data[from:to])
	}
	if k.B.Data != nil {
		d.Y = rev.ViewSlice(b)
	}
	return d
}

// gather sets dst to the elements of column j of m in the given rows, if there is m.
func gather[T rev.Float, I Index](dst []T, ind []I, m rev.General[T], j int) {
	if m.Data != nil {
		for q, l := range ind {
			dst[q] = m.Data[int(l)*m.Stride+j]
		}
	}
}
