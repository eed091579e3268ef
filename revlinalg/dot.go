package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// Dot is the kernel
//
//	R += Σ_i x_i·y_i
//
// of two vectors of the same length, with the derivatives
//
//	x̄ += R̄·y,  ȳ += R̄·x,  Ṙ += Σ ẋ_i·y_i + x_i·ẏ_i.
//
// Dot{X: x, Y: x} is the square of the norm of x; with the same cotangent for
// both, that gets 2·R̄·x.
//
// The sum is within n·ε·Σ|x_i·y_i| in floating point. In fixed point it is
// exact and rounded once, to nearest, and wraps on overflow; each element of a
// gradient is rounded once too.
type Dot[T rev.Real] struct {
	R *T            `rev:"acc"`
	X rev.Vector[T] `rev:"in"`
	Y rev.Vector[T] `rev:"in"`
}

// NewDot returns the kernel over gonum vectors, sharing their storage. It
// panics with mat.ErrShape if they differ in length.
func NewDot(r *float64, x, y *mat.VecDense) Dot[float64] {
	if x.Len() != y.Len() {
		panic(mat.ErrShape)
	}
	return Dot[float64]{R: r, X: rev.ViewVec(x), Y: rev.ViewVec(y)}
}

func (k Dot[T]) check() {
	rev.Check(&k)
	if k.X.N != k.Y.N {
		panic(mat.ErrShape)
	}
}

// Forward computes R += x·y.
func (k Dot[T]) Forward() {
	k.check()
	if k.R != nil {
		*k.R += dot(k.X, k.Y)
	}
}

// Inverse computes R -= x·y.
func (k Dot[T]) Inverse() {
	k.check()
	if k.R != nil {
		*k.R -= dot(k.X, k.Y)
	}
}

// Adjoint computes R -= x·y and x̄ += R̄·y, ȳ += R̄·x.
func (k Dot[T]) Adjoint(g Dot[T]) {
	k.check()
	rev.CheckLike(&k, &g)
	if k.R != nil {
		*k.R -= dot(k.X, k.Y)
	}
	if g.R != nil {
		k.addGradient(g, *g.R)
	}
}

// addGradient adds r times the gradient to g.
func (k Dot[T]) addGradient(g Dot[T], r T) {
	if g.X.Data != nil {
		axpy(r, k.Y, g.X)
	}
	if g.Y.Data != nil {
		axpy(r, k.X, g.Y)
	}
}

// derivative returns ẋ·y + x·ẏ.
func (k Dot[T]) derivative(t Dot[T]) T {
	var d T
	if t.X.Data != nil {
		d += dot(t.X, k.Y)
	}
	if t.Y.Data != nil {
		d += dot(k.X, t.Y)
	}
	return d
}

// Tangent computes R += x·y and Ṙ += ẋ·y + x·ẏ.
func (k Dot[T]) Tangent(t Dot[T]) {
	k.check()
	rev.CheckLike(&k, &t)
	if k.R != nil {
		*k.R += dot(k.X, k.Y)
	}
	if t.R != nil {
		*t.R += k.derivative(t)
	}
}

// AdjointTangent computes what Adjoint does, Ṙ -= ẋ·y + x·ẏ, and in gt the
// tangents of the gradient, Ṙ̄·y + R̄·ẏ and Ṙ̄·x + R̄·ẋ.
func (k Dot[T]) AdjointTangent(g, t, gt Dot[T]) {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	if t.R != nil {
		*t.R -= k.derivative(t)
	}
	if gt.R != nil {
		k.addGradient(gt, *gt.R)
	}
	if g.R != nil {
		if gt.X.Data != nil && t.Y.Data != nil {
			axpy(*g.R, t.Y, gt.X)
		}
		if gt.Y.Data != nil && t.X.Data != nil {
			axpy(*g.R, t.X, gt.Y)
		}
	}
	k.Adjoint(g)
}
