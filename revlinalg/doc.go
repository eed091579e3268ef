// Package revlinalg provides dense reversible kernels: products and reductions of
// vectors and matrices, factorisations, and functions of elements.
//
// A kernel is a struct of operands. Operands are views of memory that you own:
//
//	revlinalg.Dot[float64]{Out: &out, X: x, Y: y} // Out += Σ conj(x_i)·y_i
//
// Constructors (NewDot and so on) take gonum's types and share their storage. For
// literals, convert with rev.ViewVec, rev.ViewDense and their kin. In the equations, ẋ
// is the tangent of x, x̄ its cotangent, and ġx the tangent of x̄.
//
// # Contract
//
// Unitary, ComplexUnitary, FFT, FixedFFT and GivensQR transform their operand in place.
// All others add their result f to an output. Forward adds f. Inverse subtracts it.
// Adjoint subtracts it and adds gradients to the cotangents of the inputs. Tangent adds
// f and its derivative in a direction. Nothing is stored between calls.
//
// Cotangents and tangents that are nil are not computed. If an output is nil, only
// derivatives are computed.
//
// The first method that you call checks the operands. If shapes do not fit together, or
// an output overlaps an input, it panics with a *rev.OperandError before it writes.
// Inputs may share storage, and so may their cotangents.
//
// The factorisations and the kernels that use them return errors, which hold the number
// that tells why. Functions that are not defined everywhere (Log, Sqrt, Atan2 and Pow)
// return a *rev.DomainError. After an error, all operands are as they were.
//
// # Numbers
//
// Kernels over rev.Real take float64, float32 and fixed.Q43. Those over rev.Number take
// complex128 too, and those over rev.Float only the first two. Kernels with complex
// inputs and real outputs have names that begin with Complex.
//
// In fixed point, Inverse and Adjoint restore the output bit for bit. In floating point
// they subtract the same bits that Forward added. The output is then within one unit in
// the last place of the larger of its values before and after Forward, and lost if f is
// infinite or NaN. Results have the same bits for any number of workers. Sums may
// round differently with other vector code, and if vectors have gaps.
package revlinalg
