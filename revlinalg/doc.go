// Package revlinalg provides reversible kernels of vectors and dense matrices:
// products, reductions, factorisations, functions of elements. See also revnn.
//
// A kernel is a struct of operands, which are views of memory that you own:
//
//	revlinalg.Dot[float64]{Out: &out, X: x, Y: y} // Out += Σ conj(x_i)·y_i
//
// Constructors such as NewDot take gonum's types and share their storage. In equations, ẋ
// is the tangent of x, x̄ its cotangent, and ġx the tangent of x̄.
//
// Unitary, ComplexUnitary, FFT, FixedFFT and GivensQR transform their operand in place.
// All others add their result f to an output, and Inverse subtracts it. Package rev says
// what the other passes do. Nil outputs, cotangents and tangents are not computed.
// Nothing is stored between calls.
//
// If shapes do not fit, or an output overlaps an input, all methods panic with a
// *rev.OperandError before they write. Inputs may share storage, and so may their
// cotangents. Factorisations and kernels that use them return errors that hold the number
// that explains them. Log, Log1p, Sqrt, Recip, Atan2, Pow and DivElem return a
// *rev.DomainError where they are undefined. An error leaves operands unchanged.
//
// Kernels over rev.Real take float64, float32 and fixed.Q43. Those over rev.Number take
// complex128 too, and those over rev.Float only the first two. Kernels with complex
// inputs and real outputs have names that begin with Complex.
//
// In fixed point, Inverse and Adjoint restore the output bit for bit. In floating point
// they restore it within one unit in the last place of the larger of its values before
// and after Forward. It is lost if f is infinite or NaN. Results have the same bits for
// any number of workers. Sums may round differently with other vector code or with gaps.
package revlinalg

//go:generate go run revnum/cmd/revgen -instances
