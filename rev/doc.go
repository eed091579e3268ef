// Package rev is the contract of reversible kernels, and the combinators that
// compose kernels into reversible programs.
//
// # Kernels
//
// A kernel is a struct of operands with one method, Run ([Kernel]). A kernel value
// is an equation: Mul{C: c, A: a, B: b} reads C += A·B. Operands are views of memory
// that you own: a pointer to a number, a slice, a [Vector], a [General], or a sparse
// matrix. A rev tag says what the equation does with each, and a shape tag its
// dimensions:
//
//	rev:"in"     x   is read
//	rev:"acc"    y   is added into, and not read: y += f(x)
//	rev:"inout"  z   is transformed in place by a bijection: z <- u(x, z)
//	rev:"index"      is structure, such as the column indices of a sparse matrix
//
//	shape:"m,n"  names the dimensions: the same name is the same number everywhere
//
// There are six passes. With the cotangent x̄ of x (the derivative of a scalar by
// x), its tangent ẋ, and the Jacobian J of f:
//
//	Forward         y += f(x)
//	Inverse         y -= f(x)
//	Adjoint         y -= f(x),  x̄ += Jᵀ·ȳ
//	Tangent         y += f(x),  ẏ += J·ẋ
//	AdjointTangent  y -= f(x),  ẏ -= J·ẋ,  x̄ += Jᵀ·ȳ,  ġx += Jᵀ·ġy + (∂J[ẋ])ᵀ·ȳ
//	Gradient        y += f(x),  x̄ += Jᵀ·ȳ
//
// where ġx is the tangent of x̄ and ∂J[ẋ] the derivative of J in the direction ẋ.
// Adjoint starts from the state after Forward and undoes it on the way. That gives
// back the values at which J is taken, so nothing is recorded: the gradient of a
// program takes the memory of the program. A kernel in place works likewise,
//
//	Forward  z <- u(x, z)
//	Adjoint  z <- u⁻¹(x, z),  x̄ += Jxᵀ·z̄,  z̄ <- Jzᵀ·z̄
//
// Cotangents and tangents are kernel values too, with derivatives in the places of the
// operands. A nil operand there is not computed, and costs nothing. A nil acc operand
// of the kernel itself is not computed either.
//
// Run finds operands that are checked. The functions [Forward], [Inverse],
// [Adjoint], [Tangent], [AdjointTangent] and [Gradient], and methods of these names,
// panic with an [OperandError] where shapes do not fit, or where an operand overlaps
// one that is written. Operands that are only read may share storage; so may their
// cotangents, which are then summed.
//
// What Inverse restores depends on the numbers. Over fixed point, y += f(x) and
// y -= f(x) add and subtract the same bits, also where sums wrap around, and y comes
// back to the bit. Over floating point it comes back within about ε·(|y| + |f(x)|).
//
// # Programs
//
// A [Step] is a reversible computation on a state S: a struct of yours that holds
// the operands of all kernels. [At] makes a step of a kernel by a function that finds
// its operands in a state. [ZeroLike] makes the states of cotangents and tangents.
//
//	Seq          one after the other
//	Repeat, For  loops that know their count
//	If, While    with conditions for both directions
//	Uncall       a step backward
//	Routine      compute, copy, uncompute
//	Parallel     at the same time
//	Call         the step in a variable, for recursion
//
// The adjoint of a program is the adjoints of its steps, from the last to the
// first. [ValueGradient], [HessianVector] and [Hessian] differentiate a program with a
// scalar output.
//
// A body may change what a condition reads. If and While therefore take another
// condition for the way back, loops a count that is the same before and after, and
// Routine ancillas that are zero before and after. A program that breaks such a
// promise returns a [Violation] instead of a wrong state.
//
// A gradient that would be wrong is an error too: if the state of cotangents has
// none for an operand that one step writes and a later one reads, or if a field of the
// state tagged rev:"const" has a tangent.
//
// # When a step fails
//
// When a step fails, the steps before it run back. A method of a Step either
// completes, or leaves the state, its cotangents and its tangents as it found them, to
// the bit over fixed point and up to rounding over floating point. There is one
// exception: a kernel in place that cannot undo its adjoint returns
// [ErrUnsupported], and then the state alone is restored. The error names the step by
// its path, as in "Seq[2].While.At(revlinalg.QR[float64])".
//
// # Cost
//
// A step adds some tens of nanoseconds to its kernel: the checks, mostly. After its first
// run it allocates only what your bind function and the kernel allocate. A program holds
// no state, so it may run on several states at the same time.
//
// # Sources
//
// C. H. Bennett, Logical reversibility of computation, 1973: compute, copy,
// uncompute. C. Lutz and H. Derby, Janus: a time-reversible language, 1982;
// T. Yokoyama and R. Glück, A reversible programming language and its invertible
// self-interpreter, 2007: conditions at both ends. J.-G. Liu and T. Zhao, Differentiate
// everything with a reversible embedded domain-specific language, arXiv 2003.04617,
// 2020: their adjoints.
package rev
