package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
)

// Solve is the kernel
//
//	X += op(A)⁻¹·B
//
// where A is square and op(A) is A or, if TransA is set, Aᵀ. Writing A for op(A)
// and Y = A⁻¹·B, the derivatives are (Giles 2008, 2.3.1)
//
//	Z = A⁻ᵀ·X̄,  B̄ += Z,  Ā -= Z·Yᵀ,  Ẋ += Ẏ = A⁻¹·(Ḃ - Ȧ·Y)
//
// and, of second order,
//
//	Ż = A⁻ᵀ·(ġX - Ȧᵀ·Z),  ġB += Ż,  ġA -= Ż·Yᵀ + Z·Ẏᵀ.
//
// Each method factors A once, by elimination with partial pivoting, in blocks beyond order 8. Each column
// of Y solves a system whose matrix is within about 3n·ε·|L|·|U| of A, where L and U
// are the factors (Higham 2002, theorem 9.4). The bits do not depend on the number of
// workers.
//
// With the pivots u_jj, and ‖a_j‖ the largest magnitude in column j of A,
//
//	κ = max_j ‖a_j‖/|u_jj|
//
// is, up to a factor of n, a lower bound of the condition number of A when its columns
// are scaled to the same magnitude. If κ >= 1/(n·ε), the rows are scaled to the same
// magnitude too, by powers of two, and A is factored again. If κ is no less then, A is
// singular to working precision. All methods then return a *rev.SingularError with κ
// and write nothing. If A is nearly singular, the solution has no correct digits, but
// there is no error. You decide how ill-conditioned A may be.
//
// There is no kernel over fixed point: solutions are quotients by pivots, and leave the
// range if pivots are small.
type Solve[T rev.Float] struct {
	X       rev.General[T] `rev:"acc" shape:"n,m"`
	A       rev.General[T] `rev:"in" shape:"n,n"`
	B       rev.General[T] `rev:"in" shape:"n,m"`
	TransA  bool
	Workers int // 0 means GOMAXPROCS
}

// NewSolve returns the kernel that adds to x, over gonum matrices, sharing their storage.
// The type of a is one that NewMatMul takes.
func NewSolve(x *mat.Dense, a mat.Matrix, b *mat.Dense) Solve[float64] {
	k := Solve[float64]{X: rev.ViewDense(x), B: rev.ViewDense(b)}
	k.A, k.TransA = factor[Solve[float64]]("A", a)
	return k
}

// NewSolveVec is NewSolve for vectors as matrices of one column.
func NewSolveVec(x *mat.VecDense, a mat.Matrix, b *mat.VecDense) Solve[float64] {
	k := Solve[float64]{X: asColumn(rev.ViewVec(x)), B: asColumn(rev.ViewVec(b))}
	k.A, k.TransA = factor[Solve[float64]]("A", a)
	return k
}

// solveRun is Run of Solve.
func solveRun[T rev.Float](k *Solve[T], p *rev.Pass[Solve[T]]) error {
	checkLayout[Solve[T]]("A", "transposed", k.TransA, p.G.TransA, p.T.TransA, p.GT.TransA)
	if max(k.A.Rows, k.B.Cols) <= smallOrder && solveRunSmall(k, *p) {
		return nil
	}
	s := workspace.Get[*luSystem[T]]()
	defer workspace.Put(s)
	s.trans = k.TransA
	if err := s.factorRegular(k.Workers, k.A); err != nil {
		return err
	}
	solveSystem(s, T(p.Sign()), solveEquation(k), solveEquation(&p.G), solveEquation(&p.T), solveEquation(&p.GT))
	return nil
}

// solveRunSmall makes the pass for a small matrix that is not singular. It returns false if it may be.
func solveRunSmall[T rev.Float](k *Solve[T], p rev.Pass[Solve[T]]) bool {
	s := workspace.Get[*smallSystem[T]]()
	defer workspace.Put(s)
	s.trans = k.TransA
	regular := s.factor(k.A)
	if regular {
		solveSystem(s, T(p.Sign()), solveEquation(k), solveEquation(&p.G), solveEquation(&p.T), solveEquation(&p.GT))
	}
	return regular
}

func solveEquation[T rev.Float](k *Solve[T]) equation[T] { return equation[T]{k.X, k.A, k.B} }

// An luSystem is the system of Solve.
type luSystem[T rev.Float] struct {
	luFactor[T]
	trans bool
}

func (s *luSystem[T]) apply(b rev.General[T], trans bool, y rev.General[T], alpha T, x rev.General[T]) {
	s.solve(b, trans != s.trans, y, alpha, x)
}

func (s *luSystem[T]) subtractProduct(dst, ta rev.General[T], trans bool, x rev.General[T]) {
	multiply(s.workers, dst, -1, view(ta, trans != s.trans), view(x, false))
}

func (s *luSystem[T]) subtractOuter(ga, z, y rev.General[T]) {
	if s.trans {
		z, y = y, z
	}
	multiply(s.workers, ga, -1, view(z, false), view(y, true))
}

// A system is a matrix A, or its transpose, for which A·Y = B can be solved.
type system[T rev.Float] interface {
	// apply computes Y = A⁻¹·B or Y = A⁻ᵀ·B, and X += alpha·Y. Y and X may be nil, and
	// Y may be B.
	apply(b rev.General[T], trans bool, y rev.General[T], alpha T, x rev.General[T])
	// subtractProduct computes dst -= Ȧ·X or dst -= Ȧᵀ·X. It does nothing if Ȧ is nil.
	subtractProduct(dst, ta rev.General[T], trans bool, x rev.General[T])
	// subtractOuter computes Ā -= Z·Yᵀ. It does nothing if Ā is nil.
	subtractOuter(ga, z, y rev.General[T])
}

// equation has the operands of a kernel X += A⁻¹·B.
type equation[T rev.Float] struct{ x, a, b rev.General[T] }

// solutions are the scratch of a kernel X += A⁻¹·B.
type solutions[T rev.Float] struct {
	y, z, dy, dz rev.General[T]
}

// scratchCopy returns a copy of src in the storage of m.
func scratchCopy[T rev.Float](m, src rev.General[T]) rev.General[T] {
	m = scratch(m, src.Rows, src.Cols)
	copyMatrix(m, src)
	return m
}

// copyOrZeros is scratchCopy, or returns r×c zeros if src is nil.
func copyOrZeros[T rev.Float](m, src rev.General[T], r, c int) rev.General[T] {
	if src.Data == nil {
		return zeros(m, r, c)
	}
	return scratchCopy(m, src)
}

// solveSystem makes a pass of a kernel X += A⁻¹·B.
func solveSystem[T rev.Float](s system[T], sign T, k, g, t, gt equation[T]) {
	gradient, second := g.x.Data != nil, gt.a.Data != nil || gt.b.Data != nil
	tangent := t.a.Data != nil || t.b.Data != nil
	if !gradient && !second && !tangent {
		if k.x.Data != nil {
			s.apply(k.b, false, rev.General[T]{}, sign, k.x)
		}
		return
	}
	r, c := k.b.Rows, k.b.Cols
	w := workspace.Get[*solutions[T]]()
	w.y = scratch(w.y, r, c)
	s.apply(k.b, false, w.y, sign, k.x)
	if tangent {
		w.dy = copyOrZeros(w.dy, t.b, r, c)
		s.subtractProduct(w.dy, t.a, false, w.y)
		s.apply(w.dy, false, w.dy, sign, t.x)
	}
	if gradient {
		w.z = scratch(w.z, r, c)
		s.apply(g.x, true, w.z, 1, g.b)
		s.subtractOuter(g.a, w.z, w.y)
		if tangent {
			s.subtractOuter(gt.a, w.z, w.dy)
		}
	}
	if second {
		w.dz = copyOrZeros(w.dz, gt.x, r, c)
		if gradient {
			s.subtractProduct(w.dz, t.a, true, w.z)
		}
		s.apply(w.dz, true, w.dz, 1, gt.b)
		s.subtractOuter(gt.a, w.dz, w.y)
	}
	workspace.Put(w)
}
