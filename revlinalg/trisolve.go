package revlinalg

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// TriSolve is the kernel
//
//	X += op(A)⁻¹·B
//
// where A is triangular: upper if Upper is set, and otherwise lower. op(A) is A or, if
// TransA is set, Aᵀ. If Unit is set, the diagonal of A counts as 1. Elements outside
// the triangle are ignored, also in cotangents and tangents. Writing A for op(A), Y =
// A⁻¹·B and tri for the part in the triangle, the derivatives are
//
//	Z = A⁻ᵀ·X̄,  B̄ += Z,  Ā -= tri(Z·Yᵀ),  Ẋ += Ẏ = A⁻¹·(Ḃ - Ȧ·Y)
//
// and, of second order,
//
//	Ż = A⁻ᵀ·(ġX - Ȧᵀ·Z),  ġB += Ż,  ġA -= tri(Ż·Yᵀ + Z·Ẏᵀ).
//
// Each column of Y solves a system whose matrix is within about n·ε·|A| of A (Higham
// 2002, theorem 8.5). It depends on its own right-hand side alone. Workers share the
// columns, and the bits do not depend on their number.
//
// If an element of the diagonal is zero, all methods return a *rev.SingularError and
// write nothing. There is no other check of the condition of A: triangular systems are
// solved to a small residual however ill-conditioned they are, so you decide. There is
// no kernel over fixed point: solutions are quotients by the diagonal, and leave the
// range if it is small.
type TriSolve[T rev.Float] struct {
	X                   rev.General[T] `rev:"acc" shape:"n,m"`
	A                   rev.General[T] `rev:"in" shape:"n,n"`
	B                   rev.General[T] `rev:"in" shape:"n,m"`
	Upper, TransA, Unit bool
	Workers             int // 0 means GOMAXPROCS
}

// NewTriSolve returns the kernel that adds to x, over gonum matrices, sharing their
// storage. A is a *mat.TriDense, the transpose of one as its method TTri returns it, or
// nil for no operand. Other types and an empty *mat.TriDense panic: an empty one does not
// say which triangle it is. Derivatives of A are in the triangle of A: give the same kind of
// *mat.TriDense, transposed only where A is.
func NewTriSolve(x *mat.Dense, a mat.Triangular, b *mat.Dense) TriSolve[float64] {
	k := TriSolve[float64]{X: rev.ViewDense(x), A: rev.ViewDense(nil), B: rev.ViewDense(b)}
	if t, ok := a.(mat.UntransposeTrier); ok {
		a, k.TransA = t.UntransposeTri(), true
	}
	switch t := a.(type) {
	case nil:
	case *mat.TriDense:
		if t == nil {
			break
		}
		if t.IsEmpty() {
			panic(rev.ShapeError[TriSolve[float64]]("A", "is empty, so that it has no triangle: mat.NewTriDense makes one"))
		}
		_, kind := t.Triangle()
		k.A, k.Upper = rev.ViewTri(t, kind), kind == mat.Upper
	default:
		panic(rev.ShapeError[TriSolve[float64]]("A", "is a %T, which does not store all elements of a triangle: copy it to a *mat.TriDense", a))
	}
	return k
}

// triSolveRun is Run of TriSolve.
func triSolveRun[T rev.Float](k *TriSolve[T], p *rev.Pass[TriSolve[T]]) error {
	checkLayout[TriSolve[T]]("A", "upper triangular", k.Upper, p.G.Upper, p.T.Upper, p.GT.Upper)
	checkLayout[TriSolve[T]]("A", "transposed", k.TransA, p.G.TransA, p.T.TransA, p.GT.TransA)
	for i := range k.A.Rows {
		if !k.Unit && k.A.Row(i)[i] == 0 {
			return &rev.SingularError{Index: i, Condition: mat.Condition(math.Inf(1))}
		}
	}
	s := workspace.Get[*triangularSystem[T]]()
	s.k = *k
	solveSystem(s, T(p.Sign()), triSolveEquation(k), triSolveEquation(&p.G), triSolveEquation(&p.T), triSolveEquation(&p.GT))
	s.k = TriSolve[T]{}
	workspace.Put(s)
	return nil
}

func triSolveEquation[T rev.Float](k *TriSolve[T]) equation[T] { return equation[T]{k.X, k.A, k.B} }

// A triangularSystem is the system of TriSolve.
type triangularSystem[T rev.Float] struct {
	k    TriSolve[T]
	full rev.General[T] // with zeros outside the triangle
}

func (s *triangularSystem[T]) apply(b rev.General[T], trans bool, y rev.General[T], alpha T, x rev.General[T]) {
	trans = trans != s.k.TransA
	w := workspace.Get[*triangularSolve[T]]()
	w.t = append(w.t, triangle[T]{view(s.k.A, trans), trans == s.k.Upper, s.k.Unit})
	w.b, w.y, w.alpha, w.x = b, y, alpha, x
	w.run(s.k.Workers, b.Cols)
}

// triangle returns the part of row i of m in the triangle, and its first column.
func (s *triangularSystem[T]) triangle(m rev.General[T], i int) (row []T, first int) {
	unit := 0
	if s.k.Unit {
		unit = 1
	}
	if s.k.Upper {
		return m.Row(i)[i+unit:], i + unit
	}
	return m.Row(i)[:i+1-unit], 0
}

func (s *triangularSystem[T]) subtractProduct(dst, ta rev.General[T], trans bool, x rev.General[T]) {
	if ta.Data == nil {
		return
	}
	s.full = zeros(s.full, ta.Rows, ta.Rows)
	for i := range ta.Rows {
		row, first := s.triangle(ta, i)
		copy(s.full.Row(i)[first:], row)
	}
	multiply(s.k.Workers, dst, -1, view(s.full, trans != s.k.TransA), view(x, false))
}

func (s *triangularSystem[T]) subtractOuter(ga, z, y rev.General[T]) {
	if ga.Data == nil {
		return
	}
	if s.k.TransA {
		z, y = y, z
	}
	s.full = zeros(s.full, ga.Rows, ga.Rows)
	if s.k.Upper {
		updateUpper(s.k.Workers, -1, s.full, view(z, false), view(y, true), false)
	} else {
		multiply(s.k.Workers, s.full, -1, view(z, false), view(y, true))
	}
	for i := range ga.Rows {
		row, first := s.triangle(ga, i)
		vec.Axpy(1, s.full.Row(i)[first:first+len(row)], row)
	}
}
