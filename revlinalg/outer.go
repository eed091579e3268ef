package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
)

// Outer is the kernel
//
//	A += α·x·yᵀ
//
// of an m×n matrix A and vectors x of m and y of n elements, with the derivatives
//
//	ᾱ += xᵀ·Ā·y,  x̄ += α·Ā·y,  ȳ += α·Āᵀ·x,  Ȧ += (α̇·x + α·ẋ)·yᵀ + α·x·ẏᵀ
//
// and, of second order, with Ġ the tangent of Ā,
//
//	α̇̄ += xᵀ·Ġ·y + ẋᵀ·Ā·y + xᵀ·Ā·ẏ,
//	ẋ̄ += α·(Ġ·y + Ā·ẏ) + α̇·Ā·y,  ẏ̄ += α·(Ġᵀ·x + Āᵀ·ẋ) + α̇·Āᵀ·x.
//
// It is the RankOne of gonum's mat, in place. The product α·x_i is rounded, and
// then that with y_j. A sum over a row of A is within n·ε times that of
// magnitudes in floating point, and rounded once in fixed point, where all
// products are meaningful below 2²⁰.
type Outer[T rev.Real] struct {
	A     rev.General[T] `rev:"acc"`
	Alpha *T             `rev:"in"`
	X     rev.Vector[T]  `rev:"in"`
	Y     rev.Vector[T]  `rev:"in"`
}

// NewOuter returns the kernel over gonum's types, sharing their storage. It
// panics with mat.ErrShape if the operands do not fit together.
func NewOuter(a *mat.Dense, alpha *float64, x, y *mat.VecDense) Outer[float64] {
	k := Outer[float64]{A: rev.ViewDense(a), Alpha: alpha, X: rev.ViewVec(x), Y: rev.ViewVec(y)}
	k.checkShape()
	return k
}

func (k *Outer[T]) checkShape() {
	if k.A.Data == nil {
		k.A.Rows, k.A.Cols = k.X.N, k.Y.N // those of its cotangent
	}
	if k.A.Rows != k.X.N || k.A.Cols != k.Y.N {
		panic(mat.ErrShape)
	}
}

func (k *Outer[T]) check() {
	rev.Check(k)
	k.checkShape()
}

// x returns element i of X.
func (k *Outer[T]) x(i int) T { return k.X.Data[i*k.X.Inc] }

// Forward computes A += α·x·yᵀ.
func (k Outer[T]) Forward() {
	k.check()
	if k.A.Data == nil {
		return
	}
	for i := range k.X.N {
		axpy(fixed.Product(*k.Alpha, k.x(i)), k.Y, row(k.A, i))
	}
}

// Inverse computes A -= α·x·yᵀ.
func (k Outer[T]) Inverse() {
	k.check()
	if k.A.Data == nil {
		return
	}
	for i := range k.X.N {
		axmy(fixed.Product(*k.Alpha, k.x(i)), k.Y, row(k.A, i))
	}
}

// Adjoint computes A -= α·x·yᵀ and ᾱ += xᵀ·Ā·y, x̄ += α·Ā·y, ȳ += α·Āᵀ·x.
func (k Outer[T]) Adjoint(g Outer[T]) {
	k.check()
	rev.CheckLike(&k, &g)
	k.Inverse()
	k.addGradient(&g, g.A, *k.Alpha, k.X, k.Y)
	k.addAlpha(&g, g.A, k.X, k.Y)
}

// addGradient adds α·Ā·y and α·Āᵀ·x to the cotangents of x and y in g.
func (k *Outer[T]) addGradient(g *Outer[T], ga rev.General[T], alpha T, x, y rev.Vector[T]) {
	if ga.Data == nil {
		return
	}
	for i := range k.X.N {
		if g.X.Data != nil && y.Data != nil {
			g.X.Data[i*g.X.Inc] += fixed.Product(alpha, dot(row(ga, i), y))
		}
		if g.Y.Data != nil && x.Data != nil {
			axpy(fixed.Product(alpha, x.Data[i*x.Inc]), row(ga, i), g.Y)
		}
	}
}

// addAlpha adds xᵀ·Ā·y to the cotangent of α in g.
func (k *Outer[T]) addAlpha(g *Outer[T], ga rev.General[T], x, y rev.Vector[T]) {
	if ga.Data == nil || g.Alpha == nil || x.Data == nil || y.Data == nil {
		return
	}
	var s T
	for i := range k.X.N {
		s += fixed.Product(x.Data[i*x.Inc], dot(row(ga, i), y))
	}
	*g.Alpha += s
}

// Tangent computes A += α·x·yᵀ and Ȧ += (α̇·x + α·ẋ)·yᵀ + α·x·ẏᵀ.
func (k Outer[T]) Tangent(t Outer[T]) {
	k.check()
	rev.CheckLike(&k, &t)
	k.Forward()
	k.addTangent(&t, axpy[T])
}

// addTangent adds the tangent of α·x·yᵀ to that of A in t, or subtracts it if add
// is axmy.
func (k *Outer[T]) addTangent(t *Outer[T], add func(alpha T, x, y rev.Vector[T])) {
	if t.A.Data == nil {
		return
	}
	for i := range k.X.N {
		var d T
		if t.Alpha != nil {
			d += fixed.Product(*t.Alpha, k.x(i))
		}
		if t.X.Data != nil {
			d += fixed.Product(*k.Alpha, t.x(i))
		}
		if d != 0 {
			add(d, k.Y, row(t.A, i))
		}
		if t.Y.Data != nil {
			add(fixed.Product(*k.Alpha, k.x(i)), t.Y, row(t.A, i))
		}
	}
}

// AdjointTangent computes what Adjoint does, takes back the tangent of A, and
// adds the tangents of the gradient in gt.
func (k Outer[T]) AdjointTangent(g, t, gt Outer[T]) {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	k.addTangent(&t, axmy[T])
	k.addGradient(&gt, gt.A, *k.Alpha, k.X, k.Y)
	k.addGradient(&gt, g.A, *k.Alpha, t.X, t.Y)
	if t.Alpha != nil {
		k.addGradient(&gt, g.A, *t.Alpha, k.X, k.Y)
	}
	k.addAlpha(&gt, gt.A, k.X, k.Y)
	k.addAlpha(&gt, g.A, t.X, k.Y)
	k.addAlpha(&gt, g.A, k.X, t.Y)
	k.Adjoint(g)
}
