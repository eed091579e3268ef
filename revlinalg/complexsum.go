package revlinalg

import (
	"gonum.org/v1/gonum/blas/cblas128"

	"revnum/rev"
)

// ComplexSum is the kernel
//
//	Out += Σ x_i
//
// with the derivatives x̄_i += Ōut and Ȯut += Σ ẋ_i, and for the tangents of the
// cotangents the former once more. Each part is within n·ε times the sum of the
// magnitudes of the parts.
type ComplexSum struct {
	Out *complex128            `rev:"acc"`
	X   rev.Vector[complex128] `rev:"in"`
}

// NewComplexSum returns the kernel over a gonum vector, sharing its storage.
func NewComplexSum(out *complex128, x cblas128.Vector) ComplexSum {
	return ComplexSum{Out: out, X: viewComplex(x)}
}

func complexSum(x rev.Vector[complex128]) complex128 {
	var s complex128
	for i := range x.N {
		s += x.Data[i*x.Inc]
	}
	return s
}

// Forward computes Out += Σ x_i.
func (k ComplexSum) Forward() {
	rev.Check(&k)
	if k.Out != nil {
		*k.Out += complexSum(k.X)
	}
}

// Inverse computes Out -= Σ x_i.
func (k ComplexSum) Inverse() {
	rev.Check(&k)
	if k.Out != nil {
		*k.Out -= complexSum(k.X)
	}
}

// Adjoint computes Out -= Σ x_i and x̄_i += Ōut.
func (k ComplexSum) Adjoint(g ComplexSum) {
	rev.CheckLike(&k, &g)
	k.Inverse()
	g.addGradient()
}

// addGradient adds the cotangent of the sum to that of each element.
func (k *ComplexSum) addGradient() {
	if k.Out == nil || k.X.Data == nil {
		return
	}
	for i := range k.X.N {
		k.X.Data[i*k.X.Inc] += *k.Out
	}
}

// Tangent computes Out += Σ x_i and Ȯut += Σ ẋ_i.
func (k ComplexSum) Tangent(t ComplexSum) {
	rev.CheckLike(&k, &t)
	k.Forward()
	if t.Out != nil && t.X.Data != nil {
		*t.Out += complexSum(t.X)
	}
}

// AdjointTangent computes what Adjoint does, Ȯut -= Σ ẋ_i, and the tangent of the
// gradient in gt.
func (k ComplexSum) AdjointTangent(g, t, gt ComplexSum) {
	rev.CheckLike(&k, &g, &t, &gt)
	k.Adjoint(g)
	if t.Out != nil && t.X.Data != nil {
		*t.Out -= complexSum(t.X)
	}
	gt.addGradient()
}
