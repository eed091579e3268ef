package revlinalg

import (
	"unsafe"

	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// ComplexNorm2 is the kernel
//
//	Out += ‖x‖ = √(Σ |x_i|²)
//
// of complex numbers. It is Norm2 of their real and imaginary parts.
type ComplexNorm2 struct {
	Out *float64               `rev:"acc"`
	X   rev.Vector[complex128] `rev:"in" shape:"n"`
}

// NewComplexNorm2 returns the kernel over a gonum vector, sharing its storage.
func NewComplexNorm2(out *float64, x cblas128.Vector) ComplexNorm2 {
	return ComplexNorm2{Out: out, X: rev.ViewCVec(x)}
}

// Forward computes Out += ‖x‖.
func (k ComplexNorm2) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse computes Out -= ‖x‖.
func (k ComplexNorm2) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint computes Out -= ‖x‖ and x̄ += Ōut·x/‖x‖.
func (k ComplexNorm2) Adjoint(g ComplexNorm2) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes Out += ‖x‖ and the tangent of Out.
func (k ComplexNorm2) Tangent(t ComplexNorm2) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes back the tangent of Out, and adds
// the tangent of the gradient in gt.
func (k ComplexNorm2) AdjointTangent(g, t, gt ComplexNorm2) {
	_ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel. It returns no error.
func (k ComplexNorm2) Run(p rev.Pass[ComplexNorm2]) error {
	n, g, t, gt := k.norm(), p.G.norm(), p.T.norm(), p.GT.norm()
	n.run(p.Sign(), &g, &t, &gt)
	return nil
}

func (k ComplexNorm2) norm() norm[float64] { return complexNorm(k.Out, asColumn(k.X)) }

// ComplexFrobenius is the kernel
//
//	Out += ‖A‖_F = √(Σ |a_ij|²)
//
// of complex numbers. It is Frobenius of their real and imaginary parts.
type ComplexFrobenius struct {
	Out *float64                `rev:"acc"`
	A   rev.General[complex128] `rev:"in" shape:"m,n"`
}

// NewComplexFrobenius returns the kernel over a gonum matrix, sharing its storage.
func NewComplexFrobenius(out *float64, a *mat.CDense) ComplexFrobenius {
	return ComplexFrobenius{Out: out, A: rev.ViewCDense(a)}
}

// Forward computes Out += ‖A‖.
func (k ComplexFrobenius) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse computes Out -= ‖A‖.
func (k ComplexFrobenius) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint computes Out -= ‖A‖ and Ā += Ōut·A/‖A‖.
func (k ComplexFrobenius) Adjoint(g ComplexFrobenius) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes Out += ‖A‖ and the tangent of Out.
func (k ComplexFrobenius) Tangent(t ComplexFrobenius) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes back the tangent of Out, and adds
// the tangent of the gradient in gt.
func (k ComplexFrobenius) AdjointTangent(g, t, gt ComplexFrobenius) {
	_ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel. It returns no error.
func (k ComplexFrobenius) Run(p rev.Pass[ComplexFrobenius]) error {
	n, g, t, gt := k.norm(), p.G.norm(), p.T.norm(), p.GT.norm()
	n.run(p.Sign(), &g, &t, &gt)
	return nil
}

func (k ComplexFrobenius) norm() norm[float64] { return complexNorm(k.Out, k.A) }

// complexNorm returns the operands with the real and imaginary parts of x beside each
// other.
func complexNorm(out *float64, x rev.General[complex128]) norm[float64] {
	if len(x.Data) == 0 {
		return norm[float64]{out: out}
	}
	data := unsafe.Slice((*float64)(unsafe.Pointer(&x.Data[0])), 2*len(x.Data))
	return norm[float64]{out, rev.General[float64]{Rows: x.Rows, Cols: 2 * x.Cols, Data: data, Stride: 2 * x.Stride}, 1}
}
