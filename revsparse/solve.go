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
//	Λ = A⁻ᵀ·X̄,  B̄ += Λ,  Ā_ij -= (Λ·Yᵀ)_ij at the entries of A,  Ẋ += Ẏ = A⁻¹·(Ḃ - Ȧ·Y)
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

// NewSolve returns the kernel that adds to x, over gonum's *mat.Dense or *mat.VecDense,
// sharing their storage. Another type panics.
func NewSolve[I Index](x mat.Matrix, a CSR[float64, I], b mat.Matrix) Solve[float64, I] {
	return Solve[float64, I]{X: viewDense(x), A: a, B: viewDense(b)}
}

// NewSolveTrans is NewSolve for the transpose of a.
func NewSolveTrans[I Index](x mat.Matrix, a CSR[float64, I], b mat.Matrix) Solve[float64, I] {
	return Solve[float64, I]{X: viewDense(x), A: a, B: viewDense(b), Trans: true}
}

// luSystem is the system of Solve.
type luSystem[T rev.Float, I Index] struct {
	entries[T, float64, I]
	solutions[float64]
	lu   LU[I]
	data []float64 // of A
}

func (s *luSystem[T, I]) solve(x []float64, trans bool) error {
	s.lu.factors.solveColumns(x, trans != s.trans)
	return nil
}

// solveRun is Run of Solve.
func solveRun[T rev.Float, I Index](k *Solve[T, I], p *rev.Pass[Solve[T, I]]) error {
	CheckOperand[Solve[T, I]](&k.A, "A")
	s := workspace.Get[*luSystem[T, I]]()
	defer workspace.Put(s)
	s.data = load(s.data, rev.ViewSlice(k.A.Data), len(k.A.Data))
	if err := s.lu.factorize(CSR[float64, I]{Rows: k.A.Rows, Cols: k.A.Cols, Ptr: k.A.Ptr, Ind: k.A.Ind, Data: s.data}); err != nil {
		return err
	}
	s.entries = entries[T, float64, I]{a: k.A, trans: k.Trans}
	err := solveSystem(s, &s.solutions, p.Sign(), solveEquation(k), solveEquation(&p.G), solveEquation(&p.T), solveEquation(&p.GT))
	s.entries = entries[T, float64, I]{} // without the caller's storage
	return err
}

func solveEquation[T rev.Float, I Index](k *Solve[T, I]) equation[T] {
	return equation[T]{k.X, k.A.Data, k.B}
}
