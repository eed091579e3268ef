// Package rev is the contract of reversible kernels. It also combines kernels into
// reversible programs, and differentiates programs.
//
// A [Kernel] is an equation with its operands: Mul{C: c, A: a, B: b} reads C += A·B.
// It is a struct with one method, Run. Its operands are views of memory that you own.
// There are six passes. With the cotangent x̄ of x (the derivative of a scalar by x),
// its tangent ẋ, and the Jacobian J of f:
//
//	Forward         y += f(x)
//	Inverse         y -= f(x)
//	Adjoint         y -= f(x),  x̄ += Jᵀ·ȳ
//	Tangent         y += f(x),  ẏ += J·ẋ
//	AdjointTangent  y -= f(x),  ẏ -= J·ẋ,  x̄ += Jᵀ·ȳ,  ġx += Jᵀ·ġy + (∂J[ẋ])ᵀ·ȳ
//	Gradient        y += f(x),  x̄ += Jᵀ·ȳ
//
// where ġx is the tangent of x̄ and ∂J[ẋ] the derivative of J in the direction ẋ.
// Adjoint includes Inverse, which restores the values at which J is taken. So nothing
// is recorded. A kernel in place works likewise:
//
//	Forward  z <- u(x, z)
//	Adjoint  z <- u⁻¹(x, z),  x̄ += Jxᵀ·z̄,  z̄ <- Jzᵀ·z̄
//
// Cotangents and tangents are kernel values too. Their nil operands are not computed (see
// Omitted derivatives). Inverse restores y to the bit over fixed point, and within about ε·(|y| + |f(x)|) over
// floating point. A derivative is stored as its operand is. Fields that are no operands, such as
// flags, count in the kernel alone.
//
// # Omitted derivatives
//
// A derivative that is nil counts as zero, and what the step makes of it is not stored. The
// derivatives that are there get the values that they would get with zeros in its place:
//
//	tangent                  zero before the step
//	cotangent                zero after the step
//	tangent of a cotangent   zero after the step
//
// AdjointTangent begins after the step, where the tangents of operands in place are no longer
// zero. If all of these are nil, the kernel computes them, which may take as long as Inverse
// and Tangent. If only some of them are nil, AdjointTangent panics, because the others do not
// determine them. In Uncall of a step, before and after are those of Uncall; its AdjointTangent
// is not supported without the tangents of operands in place.
//
// # Empty receivers
//
// A view of an empty gonum value, such as ViewDense(new(mat.Dense)), is an operand without a
// size. If it is an output or a derivative, the pass first makes it zeros of the size that
// the other operands determine, as methods of gonum size an empty receiver. Only nil means
// absent: a view of a nil *mat.Dense is not computed. An empty input has no rows and no
// columns.
//
// # Products that are added
//
// On arm64 and some other machines Go may compute a*b + c with one rounding over floats: in Forward
// and not in Inverse, so that what should cancel does not. Amd64 does so only with GOAMD64=v3 or v4, so
// tests there do not find it by default. In your own kernels, write T(a*b) + c, or math.FMA(a, b, c). A
// command of the library finds the places, from the folder of your module:
//
//	go build -C ../revnum/tools/vet -o "$PWD/revvet" .
//	./revvet -fused -raw ./...
//
// It looks through variables and calls too. The flag raw is for kernels over [fixed.Q43]: it finds
// constants that mean another number there.
//
// # Overflow
//
// Sums over [fixed.Q43] wrap at ±2²⁰. [ForwardChecked] and [InverseChecked] find elements that do, for kernels
// that are a [Checker].
//
// # Programs
//
// A [Step] is a reversible computation on your struct S, which holds all operands. [At]
// makes a step of a kernel, and these make steps of steps:
//
//	Seq          one after the other
//	Repeat, For  loops that know their count
//	If, While    with conditions for both directions
//	Uncall       a step backward
//	Routine      compute, copy, uncompute
//	Parallel     at the same time
//	Call         the step in a variable, for recursion
//	Bennett      a chain of steps that cannot be undone, by uncomputing
//	Treeverse    the same, by checkpoints
//	Integrate    an ordinary differential equation, in equal steps; IntegrateWithin chooses them
//	Checkpoint   a step whose operands come back from a copy
//	ForwardMode  a step whose gradient comes from tangents
//	Hook         a look at the cotangents, or a change of them
//
// The adjoint of a program runs the adjoints of its steps in reverse. [ValueGradient],
// [HessianVector] and [Hessian] differentiate a program with a scalar output. [ZeroLike]
// makes the states that hold cotangents and tangents.
package rev
