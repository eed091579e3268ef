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
//	Z = A⁻ᵀ·X̄,  B̄ += Z,  Ā -= Z·Yᵀ,  Ẏ = A⁻¹·(Ḃ - Ȧ·Y)
//
// and, of second order,
//
//	Ż = A⁻ᵀ·(Ẋ̄ - Ȧᵀ·Z),  Ḃ̄ += Ż,  Ǡ -= Ż·Yᵀ + Z·Ẏᵀ.
//
// A is factored once in each method, by elimination with partial pivoting, on
// blocks. Each column of Y solves a system whose matrix is within about
// 3n·ε·|L|·|U| of A, with its factors L and U (Higham 2002, theorem 9.4). The bits
// do not depend on the number of workers.
//
// With the pivots u_jj, and ‖a_j‖ the largest magnitude in column j of A,
//
//	κ = max_j ‖a_j‖/|u_jj|
//
// is, up to a factor of n, a lower bound of the condition number of A when its
// columns are scaled to the same magnitude. If κ >= 1/(n·ε), rows are scaled to the
// same magnitude too, by powers of two, and A is factored again. If κ is no less
// then, A is singular to working precision, and all methods return mat.Condition(κ)
// and write nothing.
// The solution of a matrix that is nearly so has no correct digits and no
// error; how ill-conditioned A may be is for the caller to judge.
//
// There is no such kernel over fixed point: solutions are quotients by pivots, and
// leave the range where these are small.
type Solve[T rev.Float] struct {
	X       rev.General[T] `rev:"acc"`
	A       rev.General[T] `rev:"in"`
	B       rev.General[T] `rev:"in"`
	TransA  bool
	Workers int // 0 means GOMAXPROCS
}

// NewSolve returns the kernel over gonum matrices, sharing their storage. A is
// a *mat.Dense or the transpose of one, as its method T returns it; another
// type panics. It panics with mat.ErrShape if they do not fit together.
func NewSolve(x *mat.Dense, a mat.Matrix, b *mat.Dense) Solve[float64] {
	k := Solve[float64]{X: rev.ViewDense(x), B: rev.ViewDense(b)}
	k.A, k.TransA = factor(a)
	k.checkShape()
	return k
}

// NewSolveVec is NewSolve for vectors, matrices of one column.
func NewSolveVec(x *mat.VecDense, a mat.Matrix, b *mat.VecDense) Solve[float64] {
	k := Solve[float64]{X: asColumn(rev.ViewVec(x)), B: asColumn(rev.ViewVec(b))}
	k.A, k.TransA = factor(a)
	k.checkShape()
	return k
}

func (k *Solve[T]) checkShape() {
	if k.X.Data == nil {
		k.X.Rows, k.X.Cols = k.B.Rows, k.B.Cols // those of its cotangent
	}
	if k.A.Cols != k.A.Rows || k.B.Rows != k.A.Rows || k.X.Rows != k.B.Rows || k.X.Cols != k.B.Cols {
		panic(mat.ErrShape)
	}
}

func (k *Solve[T]) check() {
	rev.Check(k)
	k.checkShape()
}

// Forward computes X += A⁻¹·B.
func (k Solve[T]) Forward() error {
	k.check()
	return k.with(func(w *solving[T], s *luSystem[T]) { w.accumulate(s, k.equation(), 1) })
}

// Inverse computes X -= A⁻¹·B.
func (k Solve[T]) Inverse() error {
	k.check()
	return k.with(func(w *solving[T], s *luSystem[T]) { w.accumulate(s, k.equation(), -1) })
}

// Adjoint computes X -= A⁻¹·B and adds to Ā and B̄.
func (k Solve[T]) Adjoint(g Solve[T]) error {
	k.check()
	rev.CheckLike(&k, &g)
	return k.with(func(w *solving[T], s *luSystem[T]) { w.adjoint(s, k.equation(), g.equation()) })
}

// Tangent computes X += A⁻¹·B and adds to Ẋ.
func (k Solve[T]) Tangent(t Solve[T]) error {
	k.check()
	rev.CheckLike(&k, &t)
	return k.with(func(w *solving[T], s *luSystem[T]) { w.tangent(s, k.equation(), t.equation()) })
}

// AdjointTangent computes what Adjoint does, subtracts from Ẋ, and adds the
// tangents of the gradient to gt.
func (k Solve[T]) AdjointTangent(g, t, gt Solve[T]) error {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	return k.with(func(w *solving[T], s *luSystem[T]) {
		w.adjointTangent(s, k.equation(), g.equation(), t.equation(), gt.equation())
	})
}

func (k Solve[T]) equation() equation[T] { return equation[T]{k.X, k.A, k.B} }

// with runs f with the factors of A, if it has them.
func (k Solve[T]) with(f func(w *solving[T], s *luSystem[T])) error {
	s := workspace.Get[luSystem[T]]()
	defer workspace.Put(s)
	s.trans = k.TransA
	if err := s.factorRegular(k.Workers, k.A); err != nil {
		return err
	}
	w := workspace.Get[solving[T]]()
	f(w, s)
	workspace.Put(w)
	return nil
}

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

// A system is a matrix A, or its transpose, of which the equations A·Y = B can
// be solved.
type system[T rev.Float] interface {
	// apply computes Y = A⁻¹·B or Y = A⁻ᵀ·B, and X += alpha·Y. Y and X may be
	// nil, and Y may be B.
	apply(b rev.General[T], trans bool, y rev.General[T], alpha T, x rev.General[T])
	// subtractProduct computes dst -= Ȧ·X or dst -= Ȧᵀ·X, and nothing if Ȧ
	// is nil.
	subtractProduct(dst, ta rev.General[T], trans bool, x rev.General[T])
	// subtractOuter computes Ā -= Z·Yᵀ, and nothing if Ā is nil.
	subtractOuter(ga, z, y rev.General[T])
}

// equation has the operands of a kernel X += A⁻¹·B.
type equation[T rev.Float] struct{ x, a, b rev.General[T] }

// solving has the scratch of a kernel X += A⁻¹·B.
type solving[T rev.Float] struct {
	y, z, dy, dz rev.General[T]
}

// scratchCopy returns a copy of src in the storage of m.
func scratchCopy[T rev.Float](m, src rev.General[T]) rev.General[T] {
	m = scratch(m, src.Rows, src.Cols)
	copyMatrix(m, src)
	return m
}

func (w *solving[T]) accumulate(s system[T], k equation[T], sign T) {
	if k.x.Data != nil {
		s.apply(k.b, false, rev.General[T]{}, sign, k.x)
	}
}

func (w *solving[T]) adjoint(s system[T], k, g equation[T]) {
	w.y = scratch(w.y, k.b.Rows, k.b.Cols)
	s.apply(k.b, false, w.y, -1, k.x)
	if g.x.Data != nil {
		w.z = scratch(w.z, k.b.Rows, k.b.Cols)
		s.apply(g.x, true, w.z, 1, g.b)
		s.subtractOuter(g.a, w.z, w.y)
	}
}

func (w *solving[T]) tangent(s system[T], k, t equation[T]) {
	w.y = scratch(w.y, k.b.Rows, k.b.Cols)
	s.apply(k.b, false, w.y, 1, k.x)
	w.setTangent(s, t, 1)
}

// setTangent sets dy, and computes Ẋ += alpha·Ẏ.
func (w *solving[T]) setTangent(s system[T], t equation[T], alpha T) {
	if t.b.Data != nil {
		w.dy = scratchCopy(w.dy, t.b)
	} else {
		w.dy = zeros(w.dy, w.y.Rows, w.y.Cols)
	}
	s.subtractProduct(w.dy, t.a, false, w.y)
	s.apply(w.dy, false, w.dy, alpha, t.x)
}

func (w *solving[T]) adjointTangent(s system[T], k, g, t, gt equation[T]) {
	w.y = scratch(w.y, k.b.Rows, k.b.Cols)
	s.apply(k.b, false, w.y, -1, k.x)
	w.setTangent(s, t, -1)

	if gt.x.Data != nil {
		w.dz = scratchCopy(w.dz, gt.x)
	} else {
		w.dz = zeros(w.dz, w.y.Rows, w.y.Cols)
	}
	if g.x.Data != nil {
		w.z = scratch(w.z, w.y.Rows, w.y.Cols)
		s.apply(g.x, true, w.z, 1, g.b)
		s.subtractProduct(w.dz, t.a, true, w.z)
		s.subtractOuter(gt.a, w.z, w.dy)
		s.subtractOuter(g.a, w.z, w.y)
	}
	s.apply(w.dz, true, w.dz, 1, gt.b)
	s.subtractOuter(gt.a, w.dz, w.y)
}
