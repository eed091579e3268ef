package revlinalg

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// TriSolve is the kernel
//
//	X += op(A)⁻¹·B
//
// where A is triangular, upper if Upper is set and else lower, and op(A) is A
// or, if TransA is set, Aᵀ. With Unit the diagonal of A is taken to be 1. What
// is not in the triangle is not looked at, in cotangents and tangents neither.
// Writing A for op(A), Y = A⁻¹·B and tri for the part in the triangle, the
// derivatives are
//
//	Z = A⁻ᵀ·X̄,  B̄ += Z,  Ā -= tri(Z·Yᵀ),  Ẏ = A⁻¹·(Ḃ - Ȧ·Y)
//
// and, of second order,
//
//	Ż = A⁻ᵀ·(Ẋ̄ - Ȧᵀ·Z),  Ḃ̄ += Ż,  Ǡ -= tri(Ż·Yᵀ + Z·Ẏᵀ).
//
// Each column of Y solves a system whose matrix is within about n·ε·|A| of A
// (Higham 2002, theorem 8.5), and depends on its own right-hand side alone. The
// bits do not depend on the number of workers, which share the columns.
//
// If an element of the diagonal is zero, all methods return mat.Condition(+Inf)
// and write nothing. Any other matrix is taken as it is: as triangular systems
// are solved to a small residual however ill-conditioned they are, that is the
// caller's to judge. There is no such kernel over fixed point: solutions are
// quotients by the diagonal, and leave the range where that is small.
type TriSolve[T rev.Float] struct {
	X                   rev.General[T] `rev:"acc"`
	A                   rev.General[T] `rev:"in"`
	B                   rev.General[T] `rev:"in"`
	Upper, TransA, Unit bool
	Workers             int // 0 means GOMAXPROCS
}

// NewTriSolve returns the kernel over gonum matrices, sharing their storage. A is
// a *mat.TriDense or the transpose of one, as its method TTri returns it; another
// type panics. It panics with mat.ErrShape if they do not fit together.
func NewTriSolve(x *mat.Dense, a mat.Triangular, b *mat.Dense) TriSolve[float64] {
	k := TriSolve[float64]{X: rev.ViewDense(x), B: rev.ViewDense(b)}
	if t, ok := a.(mat.UntransposeTrier); ok {
		a, k.TransA = t.UntransposeTri(), true
	}
	t := a.(*mat.TriDense)
	uplo := t.RawTriangular().Uplo
	k.A, k.Upper = viewTri(t, uplo), uplo == blas.Upper
	k.checkShape()
	return k
}

func (k *TriSolve[T]) checkShape() {
	if k.X.Data == nil {
		k.X.Rows, k.X.Cols = k.B.Rows, k.B.Cols // those of its cotangent
	}
	if k.A.Cols != k.A.Rows || k.B.Rows != k.A.Rows || k.X.Rows != k.B.Rows || k.X.Cols != k.B.Cols {
		panic(mat.ErrShape)
	}
}

func (k *TriSolve[T]) check() {
	rev.Check(k)
	k.checkShape()
}

// Forward computes X += A⁻¹·B.
func (k TriSolve[T]) Forward() error {
	k.check()
	return k.with(func(w *solving[T], s *triangularSystem[T]) { w.accumulate(s, k.equation(), 1) })
}

// Inverse computes X -= A⁻¹·B.
func (k TriSolve[T]) Inverse() error {
	k.check()
	return k.with(func(w *solving[T], s *triangularSystem[T]) { w.accumulate(s, k.equation(), -1) })
}

// Adjoint computes X -= A⁻¹·B and adds to Ā and B̄.
func (k TriSolve[T]) Adjoint(g TriSolve[T]) error {
	k.check()
	rev.CheckLike(&k, &g)
	return k.with(func(w *solving[T], s *triangularSystem[T]) { w.adjoint(s, k.equation(), g.equation()) })
}

// Tangent computes X += A⁻¹·B and adds to Ẋ.
func (k TriSolve[T]) Tangent(t TriSolve[T]) error {
	k.check()
	rev.CheckLike(&k, &t)
	return k.with(func(w *solving[T], s *triangularSystem[T]) { w.tangent(s, k.equation(), t.equation()) })
}

// AdjointTangent computes what Adjoint does, subtracts from Ẋ, and adds the
// tangents of the gradient to gt.
func (k TriSolve[T]) AdjointTangent(g, t, gt TriSolve[T]) error {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	return k.with(func(w *solving[T], s *triangularSystem[T]) {
		w.adjointTangent(s, k.equation(), g.equation(), t.equation(), gt.equation())
	})
}

func (k TriSolve[T]) equation() equation[T] { return equation[T]{k.X, k.A, k.B} }

// with runs f, if A is not singular.
func (k TriSolve[T]) with(f func(w *solving[T], s *triangularSystem[T])) error {
	for i := range k.A.Rows {
		if !k.Unit && k.A.Row(i)[i] == 0 {
			return singular
		}
	}
	s := workspace.Get[triangularSystem[T]]()
	w := workspace.Get[solving[T]]()
	s.k = k
	f(w, s)
	s.k = TriSolve[T]{}
	workspace.Put(w)
	workspace.Put(s)
	return nil
}

// A triangularSystem is the system of TriSolve.
type triangularSystem[T rev.Float] struct {
	k    TriSolve[T]
	full rev.General[T] // with zeros outside the triangle
}

func (s *triangularSystem[T]) apply(b rev.General[T], trans bool, y rev.General[T], alpha T, x rev.General[T]) {
	trans = trans != s.k.TransA
	w := workspace.Get[triangularSolve[T]]()
	w.t = append(w.t, triangle[T]{view(s.k.A, trans), trans == s.k.Upper, s.k.Unit})
	w.b, w.y, w.alpha, w.x = b, y, alpha, x
	w.run(s.k.Workers, b.Cols)
}

// triangle returns row i of m, as far as it is in the triangle, and its first
// column.
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
		updateUpper(s.k.Workers, -1, s.full, view(z, false), view(y, true))
	} else {
		multiply(s.k.Workers, s.full, -1, view(z, false), view(y, true))
	}
	for i := range ga.Rows {
		row, first := s.triangle(ga, i)
		vec.Axpy(1, s.full.Row(i)[first:first+len(row)], row)
	}
}
