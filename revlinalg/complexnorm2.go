package revlinalg

import (
	"unsafe"

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
