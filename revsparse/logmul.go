package revsparse

import (
	"gonum.org/v1/gonum/mat"

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
// posteriors and the gradients expected counts. It runs on one worker.
type LogMul[T rev.Float, I Index] struct {
	C rev.General[T] `rev:"inout"`
	A CSR[T, I]      `rev:"in"`
	B rev.General[T] `rev:"in"`
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
	k.each(&none, &none, &none, func(k, _, _, _ revlinalg.LogDot[T]) { k.Forward() })
}

// Inverse computes C ⊖= A·B.
func (k LogMul[T, I]) Inverse() {
	var none LogMul[T, I]
	k.each(&none, &none, &none, func(k, _, _, _ revlinalg.LogDot[T]) { k.Inverse() })
}

// Adjoint computes C ⊖= A·B and the cotangents of A, B and C.
func (k LogMul[T, I]) Adjoint(g LogMul[T, I]) {
	var none LogMul[T, I]
	k.each(&g, &none, &none, func(k, g, _, _ revlinalg.LogDot[T]) { k.Adjoint(g) })
}

// Tangent computes C ⊕= A·B and the tangent of C.
func (k LogMul[T, I]) Tangent(t LogMul[T, I]) {
	var none LogMul[T, I]
	k.each(&none, &t, &none, func(k, _, t, _ revlinalg.LogDot[T]) { k.Tangent(t) })
}

// AdjointTangent undoes Tangent and computes the cotangents and their tangents.
func (k LogMul[T, I]) AdjointTangent(g, t, gt LogMul[T, I]) {
	k.each(&g, &t, &gt, func(k, g, t, gt revlinalg.LogDot[T]) { k.AdjointTangent(g, t, gt) })
}

// InverseAdjoint undoes Adjoint.
func (k LogMul[T, I]) InverseAdjoint(g LogMul[T, I]) {
	var none LogMul[T, I]
	k.each(&g, &none, &none, func(k, g, _, _ revlinalg.LogDot[T]) { k.InverseAdjoint(g) })
}

// InverseTangent undoes Tangent.
func (k LogMul[T, I]) InverseTangent(t LogMul[T, I]) {
	var none LogMul[T, I]
	k.each(&none, &t, &none, func(k, _, t, _ revlinalg.LogDot[T]) { k.InverseTangent(t) })
}

// InverseAdjointTangent undoes AdjointTangent.
func (k LogMul[T, I]) InverseAdjointTangent(g, t, gt LogMul[T, I]) {
	k.each(&g, &t, &gt, func(k, g, t, gt revlinalg.LogDot[T]) { k.InverseAdjointTangent(g, t, gt) })
}

// logMulScratch holds what a row of A meets of a column of B, of its tangent, its
// cotangent and the tangent of that.
type logMulScratch[T rev.Float] struct{ b, t, g, gt []T }

// each does the products of rows of A with columns of B, and what goes with them.
func (k *LogMul[T, I]) each(g, t, gt *LogMul[T, I], do func(k, g, t, gt revlinalg.LogDot[T])) {
	rev.Check(k)
	k.checkShape()
	rev.CheckLike(k, g, t, gt)
	s := workspace.Get[logMulScratch[T]]()
	for i := range k.A.Rows {
		from, to := int(k.A.Ptr[i]), int(k.A.Ptr[i+1])
		if from == to {
			continue // the product is zero, and C what it was
		}
		ind := k.A.Ind[from:to]
		for j := range k.C.Cols {
			s.b, s.t = gather(s.b, ind, k.B, j), gather(s.t, ind, t.B, j)
			s.g, s.gt = workspace.Zeros(s.g, len(ind)), workspace.Zeros(s.gt, len(ind))
			do(k.dot(i, j, from, to, s.b), g.dot(i, j, from, to, s.g), t.dot(i, j, from, to, s.t), gt.dot(i, j, from, to, s.gt))
			scatter(g.B, j, ind, s.g)
			scatter(gt.B, j, ind, s.gt)
		}
	}
	workspace.Put(s)
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

// gather returns the elements of column j of m in the given rows, in the storage of
// dst if that is large enough.
func gather[T rev.Float, I Index](dst []T, ind []I, m rev.General[T], j int) []T {
	dst = workspace.Grow(dst, len(ind))
	if m.Data != nil {
		for q, l := range ind {
			dst[q] = m.Data[int(l)*m.Stride+j]
		}
	}
	return dst
}

// scatter adds x to the elements of column j of m in the given rows, if there is m.
func scatter[T rev.Float, I Index](m rev.General[T], j int, ind []I, x []T) {
	if m.Data != nil {
		for q, l := range ind {
			m.Data[int(l)*m.Stride+j] += x[q]
		}
	}
}
