package revsparse

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
)

// Solve is the kernel
//
//	X += op(A)⁻¹·B
//
// of a square sparse matrix A and dense X and B of one or more columns. op(A) is A or,
// if Trans is set, Aᵀ. Writing A for op(A) and Y = A⁻¹·B, the derivatives are
//
//	Λ = A⁻ᵀ·X̄,  B̄ += Λ,  Ā_ij -= (Λ·Yᵀ)_ij at the entries of A,  Ẏ = A⁻¹·(Ḃ - Ȧ·Y), Ẋ += Ẏ
//
// and, of second order,
//
//	Λ̇ = A⁻ᵀ·(ġX - Ȧᵀ·Λ),  ġB += Λ̇,  ġA_ij -= (Λ̇·Yᵀ + Λ·Ẏᵀ)_ij.
//
// A need not be symmetric, its columns need not be sorted, and entries of the same
// place add up. The solutions are those of LU in float64; see there for their accuracy.
// The factors are kept: the same matrix is not factored again, and another matrix of
// the same structure keeps the column order. Inverse restores X up to the rounding of
// an addition and a subtraction.
//
// If A is singular to working precision, all methods return mat.Condition and write
// nothing, as LU.Factorize does. If A is symmetric and positive definite, CG needs no
// factors and less memory. If A is triangular, TriSolve does.
type Solve[T rev.Float, I Index] struct {
	X     rev.General[T] `rev:"acc" shape:"n,m"`
	A     CSR[T, I]      `rev:"in" shape:"n,n"`
	B     rev.General[T] `rev:"in" shape:"n,m"`
	Trans bool
}

// NewSolve returns the kernel over gonum's *mat.Dense or *mat.VecDense, sharing their
// storage. Another type panics.
func NewSolve[I Index](x mat.Matrix, a CSR[float64, I], b mat.Matrix) Solve[float64, I] {
	return Solve[float64, I]{X: viewDense(x), A: a, B: viewDense(b)}
}

// NewSolveTrans is NewSolve for the transpose of a.
func NewSolveTrans[I Index](x mat.Matrix, a CSR[float64, I], b mat.Matrix) Solve[float64, I] {
	return Solve[float64, I]{X: viewDense(x), A: a, B: viewDense(b), Trans: true}
}

// Forward computes X += A⁻¹·B.
func (k Solve[T, I]) Forward() error { return k.Run(rev.ForwardPass(&k)) }

// Inverse computes X -= A⁻¹·B.
func (k Solve[T, I]) Inverse() error { return k.Run(rev.InversePass(&k)) }

// Adjoint computes X -= A⁻¹·B and the cotangents of A and B.
func (k Solve[T, I]) Adjoint(g Solve[T, I]) error { return k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes X += A⁻¹·B and Ẋ += A⁻¹·(Ḃ - Ȧ·Y).
func (k Solve[T, I]) Tangent(t Solve[T, I]) error { return k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes back the tangent of X, and adds the
// tangents of the cotangents of A and B.
func (k Solve[T, I]) AdjointTangent(g, t, gt Solve[T, I]) error {
	return k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// solving has what a pass needs: the factors, and the matrices of the equations by
// columns.
type solving[I Index] struct {
	lu                     LU[I]
	data                   []float64 // of A
	y, dy, lambda, dlambda []float64
}

// Run implements rev.Kernel.
func (k Solve[T, I]) Run(p rev.Pass[Solve[T, I]]) error {
	checkOperand[Solve[T, I]](&k.A, "A")
	s := workspace.Get[solving[I]]()
	defer workspace.Put(s)
	s.data = workspace.Grow(s.data, len(k.A.Data))
	for q, v := range k.A.Data {
		s.data[q] = float64(v)
	}
	if err := s.lu.factorize(CSR[float64, I]{Rows: k.A.Rows, Cols: k.A.Cols, Ptr: k.A.Ptr, Ind: k.A.Ind, Data: s.data}); err != nil {
		return err
	}
	g, t, gt := &p.G, &p.T, &p.GT
	s.y = k.solve(s, s.y, k.B, k.Trans)
	if p.Tangent {
		s.dy = columns(s.dy, t.B, k.A.Rows, k.B.Cols)
		k.subMul(s.dy, t.A.Data, s.y, k.Trans)
		s.lu.factors.solveColumns(s.dy, k.Trans)
		addColumns(t.X, T(p.Sign()), s.dy)
	}
	addColumns(k.X, T(p.Sign()), s.y)
	if !p.Adjoint {
		return nil
	}
	s.lambda = k.solve(s, s.lambda, g.X, !k.Trans)
	addColumns(g.B, 1, s.lambda)
	k.subOuter(g.A.Data, s.lambda, s.y)
	if p.Tangent {
		s.dlambda = columns(s.dlambda, gt.X, k.A.Rows, k.B.Cols)
		k.subMul(s.dlambda, t.A.Data, s.lambda, !k.Trans)
		s.lu.factors.solveColumns(s.dlambda, !k.Trans)
		addColumns(gt.B, 1, s.dlambda)
		k.subOuter(gt.A.Data, s.dlambda, s.y)
		k.subOuter(gt.A.Data, s.lambda, s.dy)
	}
	return nil
}

// solve returns A⁻¹·b or A⁻ᵀ·b by columns, or zeros if b is nil, in the storage of dst.
func (k *Solve[T, I]) solve(s *solving[I], dst []float64, b rev.General[T], trans bool) []float64 {
	dst = columns(dst, b, k.A.Rows, k.B.Cols)
	if b.Data != nil {
		s.lu.factors.solveColumns(dst, trans)
	}
	return dst
}

// columns returns the elements of m by columns, or zeros if m is nil, in the storage of
// dst.
func columns[T rev.Float](dst []float64, m rev.General[T], rows, cols int) []float64 {
	dst = workspace.Zeros(dst, rows*cols)
	if m.Data != nil {
		for i := range rows {
			for j, v := range m.Row(i) {
				dst[j*rows+i] = float64(v)
			}
		}
	}
	return dst
}

// addColumns computes m += alpha·x for x by columns. It does nothing if m is nil.
func addColumns[T rev.Float](m rev.General[T], alpha T, x []float64) {
	if m.Data == nil {
		return
	}
	for i := range m.Rows {
		row := m.Row(i)
		for j := range row {
			row[j] += T(alpha * T(x[j*m.Rows+i]))
		}
	}
}

// subMul computes y -= D·x, or y -= Dᵀ·x, by columns, for the matrix D with the
// structure of A and the given values. It does nothing if these are nil.
func (k *Solve[T, I]) subMul(y []float64, data []T, x []float64, trans bool) {
	if data == nil {
		return
	}
	n, ptr := k.A.Rows, k.A.Ptr
	for ; len(y) > 0; y, x = y[n:], x[n:] {
		for i := range n {
			for p := ptr[i]; p < ptr[i+1]; p++ {
				if j, v := k.A.Ind[p], float64(data[p]); trans {
					y[j] -= float64(v * x[i])
				} else {
					y[i] -= float64(v * x[j])
				}
			}
		}
	}
}

// subOuter computes D -= Λ·Xᵀ at the entries of op(A), for the matrix D with the
// structure of A and the given values. It does nothing if these are nil.
func (k *Solve[T, I]) subOuter(data []T, lambda, x []float64) {
	if data == nil {
		return
	}
	if k.Trans {
		lambda, x = x, lambda
	}
	n, ptr := k.A.Rows, k.A.Ptr
	for i := range n {
		for p := ptr[i]; p < ptr[i+1]; p++ {
			s := 0.0
			for at := 0; at < len(x); at += n {
				s += float64(lambda[at+i] * x[at+int(k.A.Ind[p])])
			}
			data[p] -= T(s)
		}
	}
}
