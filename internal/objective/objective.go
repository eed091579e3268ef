// Package objective has what the models that gonum minimises have in common:
// the value of a kernel with a scalar output, its gradient and its Hessian times a
// vector, as functions of one vector of variables. None of them allocates.
package objective

import (
	"revnum/internal/workspace"
	"revnum/rev"
)

// A Model finds the operands of a kernel K in a vector. K returns no errors.
type Model[K any] interface {
	// Kernel returns the kernel with its output at out and its variables at x, and
	// panics with mat.ErrShape if x has not as many elements.
	Kernel(x []float64, out *float64) K

	// View returns derivatives: that of the output at out, those of the variables
	// at x, and no others. It panics as Kernel does, but for a nil x.
	View(x []float64, out *float64) K
}

// scalars are an output and its cotangent, which would otherwise be allocated
// at every call.
type scalars struct{ out, cot float64 }

// Value returns the output at x.
func Value[K rev.Kernel[K], M Model[K]](m M, x []float64) float64 {
	s := workspace.Get[scalars]()
	defer workspace.Put(s)
	s.out = 0
	_ = rev.Forward(m.Kernel(x, &s.out))
	return s.out
}

// Gradient overwrites grad with cot times the gradient at x, and returns the output.
func Gradient[K rev.Kernel[K], M Model[K]](m M, cot float64, grad, x []float64) float64 {
	s := workspace.Get[scalars]()
	defer workspace.Put(s)
	s.out, s.cot = 0, cot
	clear(grad)
	if grad == nil {
		grad = []float64{} // of the wrong length, not absent
	}
	_ = rev.Gradient(m.Kernel(x, &s.out), m.View(grad, &s.cot))
	return s.out
}

// HessVec overwrites dst with cot times the Hessian at x times v.
func HessVec[K rev.Kernel[K], M Model[K]](m M, cot float64, dst, x, v []float64) {
	s := workspace.Get[scalars]()
	defer workspace.Put(s)
	s.cot = cot
	clear(dst)
	if dst == nil {
		dst = []float64{}
	}
	if v == nil {
		v = []float64{}
	}
	_ = rev.AdjointTangent(m.Kernel(x, nil), m.View(nil, &s.cot), m.View(v, nil), m.View(dst, nil))
}
