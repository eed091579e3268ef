package revlinalg

import (
	"math/cmplx"

	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// ComplexAxpy is the kernel
//
//	Y += α·X
//
// of two vectors of the same length, with the derivatives
//
//	ᾱ += Σ conj(x_i)·ȳ_i,  x̄ += conj(α)·ȳ,  ẏ += α̇·x + α·ẋ
//
// and, of second order, with ġ the tangent of ȳ,
//
//	α̇̄ += Σ conj(x_i)·ġ_i + conj(ẋ_i)·ȳ_i,  ẋ̄ += conj(α)·ġ + conj(α̇)·ȳ.
//
// A product is within 2ε times its magnitude.
type ComplexAxpy struct {
	Y     rev.Vector[complex128] `rev:"acc"`
	Alpha *complex128            `rev:"in"`
	X     rev.Vector[complex128] `rev:"in"`
}

// NewComplexAxpy returns the kernel over gonum vectors, sharing their storage. It
// panics with mat.ErrShape if they differ in length.
func NewComplexAxpy(y cblas128.Vector, alpha *complex128, x cblas128.Vector) ComplexAxpy {
	k := ComplexAxpy{Y: viewComplex(y), Alpha: alpha, X: viewComplex(x)}
	k.checkShape()
	return k
}

func (k *ComplexAxpy) check() {
	rev.Check(k)
	k.checkShape()
}

func (k *ComplexAxpy) checkShape() {
	if k.Y.Data == nil {
		k.Y.N = k.X.N // that of its cotangent
	}
	if k.Y.N != k.X.N {
		panic(mat.ErrShape)
	}
}

// Forward computes Y += α·X.
func (k ComplexAxpy) Forward() {
	k.check()
	if k.Y.Data != nil {
		complexAxpy(*k.Alpha, k.X, k.Y)
	}
}

// Inverse computes Y -= α·X.
func (k ComplexAxpy) Inverse() {
	k.check()
	if k.Y.Data != nil {
		complexAxpy(-*k.Alpha, k.X, k.Y)
	}
}

// Adjoint computes Y -= α·X and ᾱ += Σ conj(x_i)·ȳ_i, x̄ += conj(α)·ȳ.
func (k ComplexAxpy) Adjoint(g ComplexAxpy) {
	k.check()
	rev.CheckLike(&k, &g)
	k.Inverse()
	g.addGradient(*k.Alpha, k.X, g.Y)
}

// addGradient adds Σ conj(x_i)·ȳ_i to Alpha and conj(α)·ȳ to X.
func (k *ComplexAxpy) addGradient(alpha complex128, x, gy rev.Vector[complex128]) {
	if gy.Data == nil {
		return
	}
	if k.Alpha != nil && x.Data != nil {
		*k.Alpha += complexDot(x, gy)
	}
	if k.X.Data != nil {
		complexAxpy(cmplx.Conj(alpha), gy, k.X)
	}
}

// addTangent adds sign·(α̇·x + α·ẋ) to Y, for a sign of 1 or -1.
func (k *ComplexAxpy) addTangent(t *ComplexAxpy, sign float64) {
	if t.Y.Data == nil {
		return
	}
	if t.Alpha != nil {
		complexAxpy(scale(sign, *t.Alpha), k.X, t.Y)
	}
	if t.X.Data != nil {
		complexAxpy(scale(sign, *k.Alpha), t.X, t.Y)
	}
}

// Tangent computes Y += α·X and ẏ += α̇·x + α·ẋ.
func (k ComplexAxpy) Tangent(t ComplexAxpy) {
	k.check()
	rev.CheckLike(&k, &t)
	k.Forward()
	k.addTangent(&t, 1)
}

// AdjointTangent computes what Adjoint does, ẏ -= α̇·x + α·ẋ, and the tangents of
// the gradient in gt.
func (k ComplexAxpy) AdjointTangent(g, t, gt ComplexAxpy) {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	k.addTangent(&t, -1)
	gt.addGradient(*k.Alpha, k.X, gt.Y)
	var dalpha complex128
	if t.Alpha != nil {
		dalpha = *t.Alpha
	}
	gt.addGradient(dalpha, t.X, g.Y)
	k.Adjoint(g)
}
