package rev

import "revnum/fixed"

// Float is the constraint of kernels that need true division, exponentials or
// the vector core.
type Float interface {
	float32 | float64
}

// Real is the constraint of kernels whose arithmetic is the same over floating
// and fixed point: additions, and products that are only ever added into or
// subtracted from a place.
type Real interface {
	float32 | float64 | fixed.Q43
}

// Kernel is what every kernel implements. A kernel value is an equation with
// its operands, views of memory that the caller owns. G is a kernel value of
// the same shape (nearly always the kernel's own type) that holds cotangents
// for Adjoint and tangents for Tangent.
//
// The operands of a kernel are the fields of its struct that carry a rev tag:
//
//	rev:"in"     read, never written
//	rev:"acc"    added into
//	rev:"inout"  transformed in place
//	rev:"index"  structure (an integer array), read, without gradient
//
// A nil operand in g asks for no gradient of it. A nil acc operand in the
// receiver asks for no uncomputation of it.
type Kernel[G any] interface {
	// Forward runs the computation in place.
	Forward()

	// Inverse undoes Forward.
	Inverse()

	// Adjoint starts from the state after Forward with the cotangents of that
	// state in g. It leaves the operands as Inverse would, and in g the
	// cotangents of the state before Forward. For an accumulating kernel
	// y += f(x) that is y -= f(x), ḡx += Jᵀ·ḡy with ḡy unchanged; for a
	// bijection in place, x and ḡx walk back together.
	Adjoint(g G)

	// Tangent is Forward with the tangents t carried along: for y += f(x),
	// y += f(x) and ṫy += J·ṫx.
	Tangent(t G)
}

// SecondOrder is implemented by the kernels for which a Hessian is meaningful.
type SecondOrder[G any] interface {
	Kernel[G]

	// AdjointTangent is the tangent of Adjoint (forward over reverse). It
	// starts from the state after Tangent(t), with the cotangents of that
	// state in g and the tangents of those cotangents in gt. It leaves the
	// operands and t as they were before Tangent, g as Adjoint does, and in gt
	// the tangents of what it leaves in g. For y += f(x) that is y -= f(x),
	// ṫy -= J·ṫx, ḡx += Jᵀ·ḡy, and ġx += Jᵀ·ġy + (∂J[ṫx])ᵀ·ḡy.
	AdjointTangent(g, t, gt G)
}

// InPlace is implemented by kernels with inout operands that can also be run
// backward with tangents or cotangents attached, which Uncall needs of them,
// and the rollback of a program that fails. Kernels that only accumulate need
// not implement it: rev derives both from the sign of the accumulation.
type InPlace[G any] interface {
	Kernel[G]

	// InverseAdjoint undoes Adjoint: it starts from the state before Forward
	// with the cotangents of that state in g, and leaves the operands as
	// Forward would and g as it was before Adjoint.
	InverseAdjoint(g G)

	// InverseTangent undoes Tangent.
	InverseTangent(t G)
}

// SecondOrderInPlace is to SecondOrder what InPlace is to Kernel.
type SecondOrderInPlace[G any] interface {
	SecondOrder[G]

	// InverseAdjointTangent undoes AdjointTangent.
	InverseAdjointTangent(g, t, gt G)
}

// FallibleKernel is a kernel whose methods can meet numerical trouble (a
// rank-deficient QR, a matrix that is not positive definite). On an error,
// which carries the number that tells why, the operands are as they were. It
// may also have the methods of SecondOrder, InPlace and SecondOrderInPlace,
// likewise with an error for a result.
type FallibleKernel[G any] interface {
	Forward() error
	Inverse() error
	Adjoint(g G) error
	Tangent(t G) error
}
