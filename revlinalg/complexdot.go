package revlinalg

import (
	"math/cmplx"

	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// ComplexDot is the kernel
//
//	R += Σ conj(x_i)·y_i
//
// of two vectors of the same length, the Dotc of BLAS, with the derivatives
//
//	x̄ += conj(R̄)·y,  ȳ += R̄·x,  Ṙ += Σ conj(ẋ_i)·y_i + conj(x_i)·ẏ_i.
//
// and, of second order, with ġ the tangent of R̄,
//
//	ẋ̄ += conj(ġ)·y + conj(R̄)·ẏ,  ẏ̄ += ġ·x + R̄·ẋ.
//
// The sum is within 2n·ε·Σ|x_i·y_i|.
type ComplexDot struct {
	R *complex128            `rev:"acc"`
	X rev.Vector[complex128] `rev:"in"`
	Y rev.Vector[complex128] `rev:"in"`
}

// NewComplexDot returns the kernel over gonum vectors, sharing their storage. It
// panics with mat.ErrShape if they differ in length.
func NewComplexDot(r *complex128, x, y cblas128.Vector) ComplexDot {
	k := ComplexDot{R: r, X: viewComplex(x), Y: viewComplex(y)}
	k.checkShape()
	return k
}

func (k *ComplexDot) checkShape() {
	if k.X.N != k.Y.N {
		panic(mat.ErrShape)
	}
}

func (k *ComplexDot) check() {
	rev.Check(k)
	k.checkShape()
}

// Forward computes R += Σ conj(x_i)·y_i.
func (k ComplexDot) Forward() {
	k.check()
	if k.R != nil {
		*k.R += complexDot(k.X, k.Y)
	}
}

// Inverse computes R -= Σ conj(x_i)·y_i.
func (k ComplexDot) Inverse() {
	k.check()
	if k.R != nil {
		*k.R -= complexDot(k.X, k.Y)
	}
}

// Adjoint computes R -= Σ conj(x_i)·y_i and x̄ += conj(R̄)·y, ȳ += R̄·x.
func (k ComplexDot) Adjoint(g ComplexDot) {
	k.check()
	rev.CheckLike(&k, &g)
	k.Inverse()
	if g.R != nil {
		g.addGradient(*g.R, k.X, k.Y)
	}
}

// addGradient adds conj(r)·y to X and r·x to Y.
func (k *ComplexDot) addGradient(r complex128, x, y rev.Vector[complex128]) {
	if k.X.Data != nil && y.Data != nil {
		complexAxpy(cmplx.Conj(r), y, k.X)
	}
	if k.Y.Data != nil && x.Data != nil {
		complexAxpy(r, x, k.Y)
	}
}

// derivative returns Σ conj(ẋ_i)·y_i + conj(x_i)·ẏ_i.
func (k *ComplexDot) derivative(t *ComplexDot) complex128 {
	var d complex128
	if t.X.Data != nil {
		d += complexDot(t.X, k.Y)
	}
	if t.Y.Data != nil {
		d += complexDot(k.X, t.Y)
	}
	return d
}

// Tangent computes R += Σ conj(x_i)·y_i and its tangent.
func (k ComplexDot) Tangent(t ComplexDot) {
	k.check()
	rev.CheckLike(&k, &t)
	k.Forward()
	if t.R != nil {
		*t.R += k.derivative(&t)
	}
}

// AdjointTangent computes what Adjoint does, takes back the tangent of R, and adds
// the tangents of the gradient in gt.
func (k ComplexDot) AdjointTangent(g, t, gt ComplexDot) {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	if t.R != nil {
		*t.R -= k.derivative(&t)
	}
	if gt.R != nil {
		gt.addGradient(*gt.R, k.X, k.Y)
	}
	if g.R != nil {
		gt.addGradient(*g.R, t.X, t.Y)
	}
	k.Adjoint(g)
}
