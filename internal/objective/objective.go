// Package objective makes objectives for gonum's minimisers from kernels with a
// scalar output. Given one vector of variables, it computes the value, the gradient,
// and the product of the Hessian with a vector. None of its functions allocates.
package objective

import (
	"revnum/internal/workspace"
	"revnum/rev"
)

// A Model finds the operands of a kernel K over T in a vector. The passes of K return no
// errors.
type Model[T rev.Float, K any] interface {
	// Kernel returns the kernel with its output at out and its variables at x. It
	// panics with mat.ErrShape if x has another number of elements.
	Kernel(x []T, out *T) K

	// View returns a kernel of derivatives: the derivative of the output is at out,
	// those of the variables are at x, and all others are absent. It panics as Kernel
	// does, except that x may be nil.
	View(x []T, out *T) K
}

// scalars are an output and its cotangent. They are kept together so that no call
// allocates them.
type scalars[T rev.Float] struct{ out, cot T }

// Value returns the output at x.
func Value[T rev.Float, K rev.Kernel[K], M Model[T, K]](m M, x []T) T {
	s := workspace.Get[*scalars[T]]()
	defer workspace.Put(s)
	s.out = 0
	_ = rev.Forward(m.Kernel(x, &s.out))
	return s.out
}

// Gradient overwrites grad with cot times the gradient at x, and returns the output.
func Gradient[T rev.Float, K rev.Kernel[K], M Model[T, K]](m M, cot T, grad, x []T) T {
	s := workspace.Get[*scalars[T]]()
	defer workspace.Put(s)
	s.out, s.cot = 0, cot
	clear(grad)
	if grad == nil {
		grad = []T{} // of the wrong length, not absent
	}
	_ = rev.Gradient(m.Kernel(x, &s.out), m.View(grad, &s.cot))
	return s.out
}

// HessVec overwrites dst with cot times the Hessian at x times v.
func HessVec[T rev.Float, K rev.Kernel[K], M Model[T, K]](m M, cot T, dst, x, v []T) {
	s := workspace.Get[*scalars[T]]()
	defer workspace.Put(s)
	s.cot = cot
	clear(dst)
	if dst == nil {
		dst = []T{}
	}
	if v == nil {
		v = []T{}
	}
	_ = rev.AdjointTangent(m.Kernel(x, nil), m.View(nil, &s.cot), m.View(v, nil), m.View(dst, nil))
}
