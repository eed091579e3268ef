// Package rev is the contract of reversible kernels, and the combinators that
// compose kernels into reversible programs.
//
// # Kernels
//
// A kernel is a numerical routine that runs forward and backward. A kernel
// value is an equation with its operands: Mul{C: c, A: a, B: b} reads
// C += A·B. The operands are views of memory that the caller owns (a pointer
// to a scalar, a slice, a [Vector], a [General], the values of a sparse matrix),
// and each has a role, which a struct tag tells:
//
//	rev:"in"     x    read, never written
//	rev:"acc"    y    added into: y += f(x), and not looked at otherwise
//	rev:"inout"  z    transformed in place by a bijection: z <- u(x, z)
//	rev:"index"       structure, such as the column indices of a sparse matrix
//
// Every kernel has four methods ([Kernel]). ḡx is the cotangent of x, the
// derivative of some scalar by x, and ṫx its tangent, the derivative of x in some
// direction. J is the Jacobian of f by x; Jx and Jz are those of u.
//
//	Forward      y += f(x)                 z <- u(x, z)
//	Inverse      y -= f(x)                 z <- u⁻¹(x, z)
//	Adjoint(g)   y -= f(x), ḡx += Jᵀ·ḡy    z <- u⁻¹(x, z), ḡx += Jxᵀ·ḡz, ḡz <- Jzᵀ·ḡz
//	Tangent(t)   y += f(x), ṫy += J·ṫx     z <- u(x, z), ṫz <- Jx·ṫx + Jz·ṫz
//
// Adjoint starts from the state after Forward. It undoes Forward as it goes,
// which gives it back the values that the Jacobians are taken at, so nothing
// has to be recorded: the gradient of a program needs the memory of the
// program. The argument g is a kernel value that has the cotangents in the
// places of the operands, and t has the tangents. Cotangents of what is read
// are always added to. A nil operand in g asks for no gradient of it, and a nil
// acc operand of the receiver for no uncomputation of it.
//
// The same storage may be passed for two operands that are only read, and, if
// it is, for their two cotangents. Any other overlap of operands panics, as
// wrong shapes do, with the values that gonum's mat panics with where it has
// one; [Check] and [CheckLike] find them. Numerical trouble is an error, which
// the methods of a [FallibleKernel] return.
//
// What Inverse restores depends on the numbers. y += f(x) and y -= f(x) add and
// subtract the same number, so over fixed point, whose sums are exact (also
// where they wrap around), all comes back bit for bit. Over floating point each
// sum is rounded, and y comes back within about ε·(|y| + |f(x)|).
//
// # Programs
//
// A [Step] is a reversible computation on a state S, a struct of the user's
// with the operands of all kernels. [At], or [AtErr] of a kernel that can fail,
// makes a step of a kernel: it takes a function that finds the operands in a
// state. The function is called for other states too, which have cotangents and
// tangents in the same places.
//
//	Seq        one after the other
//	Uncall     a step backward
//	Repeat     a loop that knows its count
//	If, While  with conditions for both directions
//	Routine    compute, copy, uncompute
//	Parallel   at the same time
//	Call       the step in a variable, for recursion
//
// Whatever runs forward runs backward in the opposite order, and the adjoint
// of a program is the adjoints of its steps in that order. [Gradient],
// [HessianVector] and [Hessian] do so for a program with a scalar output.
//
// A branch or a loop cannot be run backward by the condition that it was run
// forward by, which its body may have changed. Hence [If] and [While] take
// another condition for the way back, Repeat a count that is the same before and
// after, and Routine ancillas that are zero before and after. All this is
// checked at run time in both directions; a program that breaks it returns a
// [Violation] instead of a wrong state. [Unchecked] leaves the checks out.
//
// # When a step fails
//
// When a step fails, the steps that ran before it are run back. So a method of
// a Step either completes or leaves what it was given as it found it: the
// state, and also the cotangents and tangents, of which as much is subtracted
// as was added. As for Inverse, this is bit for bit over fixed point and up to
// rounding over floating point. There is one exception: cotangents and tangents
// cannot be taken back through a kernel with an inout operand that does not
// implement [InPlace]. Then the state alone is as it was found, and the error
// says so and wraps an [Unsupported].
//
// The error names the step by its path in the program, as in
// "Seq[2].While.At(qr.Factor)": the combinators from the outside in, and the
// kernel. Panics are bugs of the caller, and nothing is run back.
//
// # Second order and the way back
//
// AdjointTangent ([SecondOrder]) is the tangent of Adjoint. It starts from the
// state after Tangent, with the cotangents in g and their tangents in gt:
//
//	y -= f(x), ṫy -= J·ṫx, ḡx += Jᵀ·ḡy, ġx += Jᵀ·ġy + (∂J[ṫx])ᵀ·ḡy
//
// where ∂J[ṫx] is the derivative of J in the direction ṫx. With the scalar
// output as y, ḡy = 1 and ġy = 0, it leaves in ġx the product of the Hessian
// with ṫx.
//
// Uncall, and running a program back that has failed, need the inverses of
// Adjoint, Tangent and AdjointTangent. For kernels without inout operands they
// follow from the sign of the accumulation, as -(-y + f(x)) is y - f(x). Kernels
// with inout operands have them as methods of their own ([InPlace],
// [SecondOrderInPlace]).
//
// # Speed and memory
//
// A step of a kernel costs some 30 ns beside the kernel, and no step allocates
// once it has run, but for what bind functions and kernels allocate themselves.
// A program holds no state of its own: it may run on several states at the same
// time. Its recursion (Call) takes stack as that of any function.
//
// # Sources
//
// C. H. Bennett, Logical reversibility of computation, IBM J. Res. Dev. 17
// (1973): compute, copy, uncompute. C. Lutz and H. Derby, Janus: a
// time-reversible language (1982); T. Yokoyama and R. Glück, A reversible
// programming language and its invertible self-interpreter (2007): conditionals
// and loops with assertions at both ends, uncall. J.-G. Liu and T. Zhao,
// Differentiate everything with a reversible embedded domain-specific language,
// arXiv 2003.04617 (2020): their adjoints.
package rev
