package revlinalg

import (
	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// ComplexNorm2 is the kernel
//
//	Out += ‖x‖ = √(Σ |x_i|²)
//
// of complex numbers: Norm2 of their real and imaginary parts, in all respects.
type ComplexNorm2 struct {
	Out *float64               `rev:"acc"`
	X   rev.Vector[complex128] `rev:"in"`
}

// NewComplexNorm2 returns the kernel over a gonum vector, sharing its storage.
func NewComplexNorm2(out *float64, x cblas128.Vector) ComplexNorm2 {
	return ComplexNorm2{Out: out, X: viewComplex(x)}
}

// norm has a row for each element, so that rows match whatever the Inc of operands.
func (k *ComplexNorm2) norm() norm[float64] {
	x := rev.General[complex128]{Rows: k.X.N, Cols: 1, Data: k.X.Data, Stride: k.X.Inc}
	return norm[float64]{k.Out, partsOf(x), 1}
}

// Forward computes Out += ‖x‖.
func (k ComplexNorm2) Forward() {
	rev.Check(&k)
	k.norm().forward()
}

// Inverse computes Out -= ‖x‖.
func (k ComplexNorm2) Inverse() {
	rev.Check(&k)
	k.norm().inverse()
}

// Adjoint computes Out -= ‖x‖ and adds Ōut·x/‖x‖ to the cotangent of x.
func (k ComplexNorm2) Adjoint(g ComplexNorm2) {
	rev.Check(&k)
	rev.CheckLike(&k, &g)
	k.norm().adjoint(g.norm())
}

// Tangent computes Out += ‖x‖ and its tangent.
func (k ComplexNorm2) Tangent(t ComplexNorm2) {
	rev.Check(&k)
	rev.CheckLike(&k, &t)
	k.norm().tangent(t.norm())
}

// AdjointTangent computes what Adjoint does, takes back the tangent of Out, and
// adds the tangent of the gradient.
func (k ComplexNorm2) AdjointTangent(g, t, gt ComplexNorm2) {
	rev.Check(&k)
	rev.CheckLike(&k, &g, &t, &gt)
	k.norm().adjointTangent(g.norm(), t.norm(), gt.norm())
}

// ComplexFrobenius is the kernel
//
//	Out += ‖A‖_F = √(Σ |a_ij|²)
//
// of complex numbers: Frobenius of their real and imaginary parts, in all respects.
type ComplexFrobenius struct {
	Out *float64                `rev:"acc"`
	A   rev.General[complex128] `rev:"in"`
}

// NewComplexFrobenius returns the kernel over a gonum matrix, sharing its storage.
func NewComplexFrobenius(out *float64, a *mat.CDense) ComplexFrobenius {
	return ComplexFrobenius{Out: out, A: rev.ViewCDense(a)}
}

func (k *ComplexFrobenius) norm() norm[float64] { return norm[float64]{k.Out, partsOf(k.A), 1} }

// Forward computes Out += ‖A‖.
func (k ComplexFrobenius) Forward() {
	rev.Check(&k)
	k.norm().forward()
}

// Inverse computes Out -= ‖A‖.
func (k ComplexFrobenius) Inverse() {
	rev.Check(&k)
	k.norm().inverse()
}

// Adjoint computes Out -= ‖A‖ and adds Ōut·A/‖A‖ to the cotangent of A.
func (k ComplexFrobenius) Adjoint(g ComplexFrobenius) {
	rev.Check(&k)
	rev.CheckLike(&k, &g)
	k.norm().adjoint(g.norm())
}

// Tangent computes Out += ‖A‖ and its tangent.
func (k ComplexFrobenius) Tangent(t ComplexFrobenius) {
	rev.Check(&k)
	rev.CheckLike(&k, &t)
	k.norm().tangent(t.norm())
}

// AdjointTangent computes what Adjoint does, takes back the tangent of Out, and
// adds the tangent of the gradient.
func (k ComplexFrobenius) AdjointTangent(g, t, gt ComplexFrobenius) {
	rev.Check(&k)
	rev.CheckLike(&k, &g, &t, &gt)
	k.norm().adjointTangent(g.norm(), t.norm(), gt.norm())
}
