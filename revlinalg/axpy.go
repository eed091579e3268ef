package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// Axpy is the kernel
//
//	Y += α·X
//
// of two vectors of the same length, with the derivatives
//
//	ᾱ += Σ ȳ_i·x_i,  x̄ += α·ȳ,  ẏ += α̇·x + α·ẋ
//
// and, of second order, with ġ the tangent of ȳ,
//
//	α̇̄ += Σ ġ_i·x_i + ȳ_i·ẋ_i,  ẋ̄ += α·ġ + α̇·ȳ.
//
// Each product is rounded once. In fixed point those below 2²⁰ do not wrap,
// and the sum for ᾱ is rounded once.
type Axpy[T rev.Real] struct {
	Y     rev.Vector[T] `rev:"acc"`
	Alpha *T            `rev:"in"`
	X     rev.Vector[T] `rev:"in"`
}

// NewAxpy returns the kernel over gonum vectors, sharing their storage. It
// panics with mat.ErrShape if they differ in length.
func NewAxpy(y *mat.VecDense, alpha *float64, x *mat.VecDense) Axpy[float64] {
	k := Axpy[float64]{Y: rev.ViewVec(y), Alpha: alpha, X: rev.ViewVec(x)}
	k.checkShape()
	return k
}

func (k *Axpy[T]) checkShape() {
	if k.Y.Data == nil {
		k.Y.N = k.X.N // that of its cotangent
	}
	if k.Y.N != k.X.N {
		panic(mat.ErrShape)
	}
}

func (k *Axpy[T]) check() {
	rev.Check(k)
	k.checkShape()
}

// Forward computes Y += α·X.
func (k Axpy[T]) Forward() {
	k.check()
	if k.Y.Data != nil {
		axpy(*k.Alpha, k.X, k.Y)
	}
}

// Inverse computes Y -= α·X.
func (k Axpy[T]) Inverse() {
	k.check()
	if k.Y.Data != nil {
		axmy(*k.Alpha, k.X, k.Y)
	}
}

// Adjoint computes Y -= α·X and ᾱ += Σ ȳ_i·x_i, x̄ += α·ȳ.
func (k Axpy[T]) Adjoint(g Axpy[T]) {
	k.check()
	rev.CheckLike(&k, &g)
	if k.Y.Data != nil {
		axmy(*k.Alpha, k.X, k.Y)
	}
	k.addGradient(&g, g.Y)
}

// addGradient adds the gradient for the cotangent gy of Y to g.
func (k *Axpy[T]) addGradient(g *Axpy[T], gy rev.Vector[T]) {
	if gy.Data == nil {
		return
	}
	if g.Alpha != nil {
		*g.Alpha += dot(k.X, gy)
	}
	if g.X.Data != nil {
		axpy(*k.Alpha, gy, g.X)
	}
}

// Tangent computes Y += α·X and ẏ += α̇·x + α·ẋ.
func (k Axpy[T]) Tangent(t Axpy[T]) {
	k.check()
	rev.CheckLike(&k, &t)
	if k.Y.Data != nil {
		axpy(*k.Alpha, k.X, k.Y)
	}
	if t.Y.Data == nil {
		return
	}
	if t.Alpha != nil {
		axpy(*t.Alpha, k.X, t.Y)
	}
	if t.X.Data != nil {
		axpy(*k.Alpha, t.X, t.Y)
	}
}

// AdjointTangent computes what Adjoint does, ẏ -= α̇·x + α·ẋ, and the tangents
// of the gradient in gt.
func (k Axpy[T]) AdjointTangent(g, t, gt Axpy[T]) {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	if t.Y.Data != nil {
		if t.X.Data != nil {
			axmy(*k.Alpha, t.X, t.Y)
		}
		if t.Alpha != nil {
			axmy(*t.Alpha, k.X, t.Y)
		}
	}
	k.addGradient(&gt, gt.Y)
	if g.Y.Data != nil {
		if gt.Alpha != nil && t.X.Data != nil {
			*gt.Alpha += dot(t.X, g.Y)
		}
		if gt.X.Data != nil && t.Alpha != nil {
			axpy(*t.Alpha, g.Y, gt.X)
		}
	}
	k.Adjoint(g)
}
