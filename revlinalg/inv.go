package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
)

// Inv is the kernel
//
//	B += A⁻¹
//
// of a square matrix. Writing Y for A⁻¹, the derivatives are (Giles 2008, 2.2.3)
//
//	Ā -= Yᵀ·B̄·Yᵀ,  Ẏ = -Y·Ȧ·Y,
//	Ǡ -= Ẏᵀ·B̄·Yᵀ + Yᵀ·Ḃ̄·Yᵀ + Yᵀ·B̄·Ẏᵀ
//
// with Ḃ̄ the tangent of B̄. Where A⁻¹·B or Bᵀ·A⁻¹ is what is wanted, Solve takes
// a third of the time and is closer.
//
// Y is computed by columns as Solve computes its solution, and fails when Solve
// does: all methods then return mat.Condition and write nothing. The bits do
// not depend on the number of workers. There is no such kernel over fixed point,
// in which the inverse of a small matrix has no number.
type Inv[T rev.Float] struct {
	B       rev.General[T] `rev:"acc"`
	A       rev.General[T] `rev:"in"`
	Workers int            // 0 means GOMAXPROCS
}

// NewInv returns the kernel over gonum matrices, sharing their storage. It
// panics with mat.ErrSquare if a is not square, and with mat.ErrShape if b is
// not of its shape.
func NewInv(b, a *mat.Dense) Inv[float64] {
	k := Inv[float64]{B: rev.ViewDense(b), A: rev.ViewDense(a)}
	k.checkShape()
	return k
}

func (k *Inv[T]) checkShape() {
	n := k.A.Rows
	if k.A.Cols != n {
		panic(mat.ErrSquare)
	}
	if k.B.Data == nil {
		k.B.Rows, k.B.Cols = n, n // those of its cotangent
	}
	if k.B.Rows != n || k.B.Cols != n {
		panic(mat.ErrShape)
	}
}

// inverse computes Y.
func (k *Inv[T]) inverse(w *invWork[T]) error {
	if err := w.factorRegular(k.Workers, k.A); err != nil {
		return err
	}
	w.y = w.inverse(w.y)
	return nil
}

// Forward computes B += A⁻¹.
func (k Inv[T]) Forward() error { return k.accumulate(1) }

// Inverse computes B -= A⁻¹.
func (k Inv[T]) Inverse() error { return k.accumulate(-1) }

func (k Inv[T]) accumulate(sign T) error {
	rev.Check(&k)
	k.checkShape()
	w := workspace.Get[invWork[T]]()
	defer workspace.Put(w)
	if err := k.inverse(w); err != nil {
		return err
	}
	addShared(k.Workers, k.B, sign, w.y)
	return nil
}

// Adjoint computes B -= A⁻¹ and adds to Ā.
func (k Inv[T]) Adjoint(g Inv[T]) error {
	rev.Check(&k)
	k.checkShape()
	rev.CheckLike(&k, &g)
	w := workspace.Get[invWork[T]]()
	defer workspace.Put(w)
	if err := k.inverse(w); err != nil {
		return err
	}
	w.subtractSandwich(g.A, view(w.y, true), view(g.B, false), view(w.y, true))
	addShared(k.Workers, k.B, -1, w.y)
	return nil
}

// Tangent computes B += A⁻¹ and adds to Ḃ.
func (k Inv[T]) Tangent(t Inv[T]) error {
	rev.Check(&k)
	k.checkShape()
	rev.CheckLike(&k, &t)
	w := workspace.Get[invWork[T]]()
	defer workspace.Put(w)
	if err := k.inverse(w); err != nil {
		return err
	}
	w.subtractSandwich(t.B, view(w.y, false), view(t.A, false), view(w.y, false))
	addShared(k.Workers, k.B, 1, w.y)
	return nil
}

// AdjointTangent computes what Adjoint does, subtracts from Ḃ, and adds the
// tangents of the gradient to gt.
func (k Inv[T]) AdjointTangent(g, t, gt Inv[T]) error {
	rev.Check(&k)
	k.checkShape()
	rev.CheckLike(&k, &g, &t, &gt)
	w := workspace.Get[invWork[T]]()
	defer workspace.Put(w)
	if err := k.inverse(w); err != nil {
		return err
	}
	n := k.A.Rows
	y := view(w.y, false)
	w.dy = zeros(w.dy, n, n)
	w.subtractSandwich(w.dy, y, view(t.A, false), y)
	addShared(k.Workers, t.B, -1, w.dy)
	dy := view(w.dy, false)
	w.subtractSandwich(gt.A, dy.t(), view(g.B, false), y.t())
	w.subtractSandwich(gt.A, y.t(), view(gt.B, false), y.t())
	w.subtractSandwich(gt.A, y.t(), view(g.B, false), dy.t())
	w.subtractSandwich(g.A, y.t(), view(g.B, false), y.t())
	addShared(k.Workers, k.B, -1, w.y)
	return nil
}

// invWork holds A⁻¹, its tangent, and scratch.
type invWork[T rev.Float] struct {
	luFactor[T]
	y, dy, x rev.General[T]
}

// subtractSandwich computes dst -= a·m·b, and nothing if dst or m is nil.
func (w *invWork[T]) subtractSandwich(dst rev.General[T], a, m, b strided[T]) {
	if dst.Data == nil || m.data == nil {
		return
	}
	w.x = zeros(w.x, a.rows, m.cols)
	multiply(w.workers, w.x, 1, a, m)
	multiply(w.workers, dst, -1, view(w.x, false), b)
}
