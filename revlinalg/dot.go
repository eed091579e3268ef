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
// Of long vectors Forward reads two from memory, and Adjoint reads two and reads and
// writes two: three times the traffic, which is what its time is near to.
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
		*k.R += k.pass(Dot[T]{})
	}
}

// Inverse computes R -= x·y.
func (k Dot[T]) Inverse() {
	k.check()
	if k.R != nil {
		*k.R -= k.pass(Dot[T]{})
	}
}

// Adjoint computes R -= x·y and x̄ += R̄·y, ȳ += R̄·x.
func (k Dot[T]) Adjoint(g Dot[T]) {
	k.check()
	rev.CheckLike(&k, &g)
	v := k.pass(g)
	if k.R != nil {
		*k.R -= v
	}
}

// dotPart is how many elements of floating-point vectors go through a method at a
// time, so that Adjoint reads them from memory once. In fixed point, where the sum
// is rounded once, all go at a time.
const dotPart = 1 << 10

// pass returns x·y, if there is an R, and adds to the gradient, if there is an R̄.
func (k Dot[T]) pass(g Dot[T]) T {
	var sum T
	size := dotPart
	if isFixed[T]() {
		size = max(1, k.X.N)
	}
	for lo := 0; lo < k.X.N; lo += size {
		n := min(size, k.X.N-lo)
		part := Dot[T]{X: between(k.X, lo, n), Y: between(k.Y, lo, n)}
		if k.R != nil {
			sum += dot(part.X, part.Y)
		}
		if g.R != nil {
			part.addGradient(Dot[T]{X: between(g.X, lo, n), Y: between(g.Y, lo, n)}, *g.R)
		}
	}
	return sum
}

// between returns elements lo, ..., lo+n-1 of x, which may be nil.
func between[T any](x rev.Vector[T], lo, n int) rev.Vector[T] {
	if x.Data != nil {
		x.Data, x.N = x.Data[lo*x.Inc:], n
	}
	return x
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
		*k.R += k.pass(Dot[T]{})
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
