package revlinalg

import (
	"revnum/internal/workspace"
	"revnum/rev"
)

// Inv is the kernel
//
//	B += A⁻¹
//
// of a square matrix. Writing Y for A⁻¹, the derivatives are (Giles 2008, 2.2.3)
//
//	Ā -= Yᵀ·B̄·Yᵀ,  Ḃ += Ẏ = -Y·Ȧ·Y,
//	ġA -= Ẏᵀ·B̄·Yᵀ + Yᵀ·ġB·Yᵀ + Yᵀ·B̄·Ẏᵀ
//
// If you need A⁻¹·B or Bᵀ·A⁻¹, use Solve. It takes a third of the time and is closer.
//
// Y is computed by columns as Solve computes its solution. If Solve fails, so does Inv:
// all methods then return a *rev.SingularError and write nothing. The bits do not
// depend on the number of workers. There is no kernel over fixed point, where the
// inverse of a small matrix is out of range.
type Inv[T rev.Float] struct {
	B       rev.General[T] `rev:"acc" shape:"n,n"`
	A       rev.General[T] `rev:"in" shape:"n,n"`
	Workers int            // 0 means GOMAXPROCS
}

// invRun is Run of Inv.
func invRun[T rev.Float](k *Inv[T], p *rev.Pass[Inv[T]]) error {
	w := workspace.Get[*invWork[T]]()
	defer workspace.Put(w)
	if err := w.factorRegular(k.Workers, k.A); err != nil {
		return err
	}
	w.y = w.inverse(w.y)
	sign, y := T(p.Sign()), view(w.y, false)
	addShared(k.Workers, k.B, sign, w.y)
	addSandwich(k.Workers, p.G.A, -1, y.t(), view(p.G.B, false), y.t())
	addSandwich(k.Workers, p.GT.A, -1, y.t(), view(p.GT.B, false), y.t())
	if p.T.A.Data == nil {
		return nil
	}
	w.dy = zeros(w.dy, k.A.Rows, k.A.Rows)
	addSandwich(k.Workers, w.dy, -1, y, view(p.T.A, false), y)
	addShared(k.Workers, p.T.B, sign, w.dy)
	dy := view(w.dy, false)
	addSandwich(k.Workers, p.GT.A, -1, dy.t(), view(p.G.B, false), y.t())
	addSandwich(k.Workers, p.GT.A, -1, y.t(), view(p.G.B, false), dy.t())
	return nil
}

// invWork holds A⁻¹, its tangent, and scratch.
type invWork[T rev.Float] struct {
	luFactor[T]
	y, dy, x rev.General[T]
}
