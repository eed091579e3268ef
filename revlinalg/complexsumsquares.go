package revlinalg

import (
	"gonum.org/v1/gonum/blas/cblas128"

	"revnum/rev"
)

// ComplexSumSquares is the kernel
//
//	Out += Σ |x_i|²
//
// of complex numbers: SumSquares of their real and imaginary parts, with the
// derivatives, where ġ is the tangent of Ōut,
//
//	x̄ += 2·Ōut·x,  Ȯut += 2·Σ Re conj(x_i)·ẋ_i,  ẋ̄ += 2·ġ·x + 2·Ōut·ẋ.
//
// The sum is within 2n·ε times itself.
type ComplexSumSquares struct {
	Out *float64               `rev:"acc"`
	X   rev.Vector[complex128] `rev:"in"`
}

// NewComplexSumSquares returns the kernel over a gonum vector, sharing its storage.
func NewComplexSumSquares(out *float64, x cblas128.Vector) ComplexSumSquares {
	return ComplexSumSquares{Out: out, X: viewComplex(x)}
}

// alongAll returns Σ Re conj(x_i)·y_i.
func alongAll(x, y rev.Vector[complex128]) float64 {
	if x.N > 0 && x.Inc == 1 && y.Inc == 1 {
		parts := func(x rev.Vector[complex128]) rev.Vector[float64] {
			return row(partsOf(rev.General[complex128]{Rows: 1, Cols: x.N, Data: x.Data}), 0)
		}
		return dot(parts(x), parts(y))
	}
	var s float64
	for i := range x.N {
		s += along(x.Data[i*x.Inc], y.Data[i*y.Inc])
	}
	return s
}

// addScaled computes y += r·x.
func addScaled(r float64, x, y rev.Vector[complex128]) {
	for i := range x.N {
		y.Data[i*y.Inc] += scale(r, x.Data[i*x.Inc])
	}
}

// Forward computes Out += Σ |x_i|².
func (k ComplexSumSquares) Forward() {
	rev.Check(&k)
	if k.Out != nil {
		*k.Out += alongAll(k.X, k.X)
	}
}

// Inverse computes Out -= Σ |x_i|².
func (k ComplexSumSquares) Inverse() {
	rev.Check(&k)
	if k.Out != nil {
		*k.Out -= alongAll(k.X, k.X)
	}
}

// Adjoint computes Out -= Σ |x_i|² and x̄ += 2·Ōut·x.
func (k ComplexSumSquares) Adjoint(g ComplexSumSquares) {
	rev.CheckLike(&k, &g)
	k.Inverse()
	if g.Out != nil && g.X.Data != nil {
		addScaled(2**g.Out, k.X, g.X)
	}
}

// Tangent computes Out += Σ |x_i|² and its tangent.
func (k ComplexSumSquares) Tangent(t ComplexSumSquares) {
	rev.CheckLike(&k, &t)
	k.Forward()
	if t.Out != nil && t.X.Data != nil {
		*t.Out += float64(2 * alongAll(k.X, t.X))
	}
}

// AdjointTangent computes what Adjoint does, takes back the tangent of Out, and
// adds the tangent of the gradient in gt.
func (k ComplexSumSquares) AdjointTangent(g, t, gt ComplexSumSquares) {
	rev.CheckLike(&k, &g, &t, &gt)
	k.Adjoint(g)
	if t.Out != nil && t.X.Data != nil {
		*t.Out -= float64(2 * alongAll(k.X, t.X))
	}
	if gt.X.Data == nil {
		return
	}
	if gt.Out != nil {
		addScaled(2**gt.Out, k.X, gt.X)
	}
	if g.Out != nil && t.X.Data != nil {
		addScaled(2**g.Out, t.X, gt.X)
	}
}
