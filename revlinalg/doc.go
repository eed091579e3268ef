// Package revlinalg provides dense reversible kernels: products and reductions of
// vectors and matrices, factorisations, and functions of elements.
//
// A kernel is a struct of its operands, views of memory that the caller owns,
// and reads as the equation on top of its file:
//
//	revlinalg.Dot[float64]{Out: &out, X: x, Y: y} // Out += Σ x_i·y_i
//
// Each kernel implements rev.Kernel and has the methods Forward, Inverse, Adjoint,
// Tangent and AdjointTangent. The constructors NewDot, NewLogSumExp and so on take
// gonum's types and share their storage. For literals, convert with rev.ViewVec,
// rev.ViewDense and their kin.
//
// # Contract
//
// Unitary, ComplexUnitary and GivensQR transform their operand in place. All others add their result f to an output: Forward adds f, Inverse
// subtracts it, Adjoint subtracts it and adds the gradient to the cotangents of
// the inputs, and Tangent adds f and its derivative in a direction. Nothing is
// stored between calls; what Adjoint needs of Forward it computes again.
//
// Omitted cotangents and tangents, which are nil, are not computed. Constructors take
// all operands; a literal leaves some out:
//
//	k.Adjoint(revlinalg.Affine[float64]{Y: rev.ViewVec(gy), X: rev.ViewVec(gx)})
//
// If an output of the receiver is nil, only the derivatives are computed.
//
// Methods panic with a *rev.OperandError if the shapes of operands do not fit
// together, or an output overlaps an input. It wraps mat.ErrShape, or another value of
// gonum's mat, or rev.ErrOverlap. Nothing has been written then. Inputs may share
// storage, and so may their cotangents. Constructors do not check shapes: the first
// method that you call does.
//
// The factorisations and what rests on them (Cholesky, QR, GramSchmidt, SymEig, SVD,
// TriSolve, Solve, Inv and LogDet) return errors, which carry the number that
// tells why: of gonum's type mat.Condition where a matrix is singular. Functions
// of elements that are not defined everywhere (Log, Sqrt, Atan2 and Pow) return a
// *rev.DomainError. All operands are then as they were.
//
// # Numbers
//
// Kernels whose type parameter is rev.Real take float64, float32 and fixed.Q43. Those
// with rev.Number take complex128 too, and those with rev.Float take the first two
// alone; their pages say why they do not take fixed point. Kernels over complex numbers
// with real operands beside them, such as norms, have names that begin with Complex.
// Constructors take what gonum has, which is float64 and for these kernels complex128.
//
// # Rounding
//
// In fixed point, Inverse and Adjoint restore the output bit for bit. In
// floating point f is computed to the same bits each time, so they restore it
// up to the rounding of one addition and one subtraction: within one unit in
// the last place of the larger of the output before and after Forward. If f is
// infinite or NaN the output is lost.
//
// Results are the same bits for any number of workers. They depend on the tier
// of vector code (see internal/simd) and, in floating point, on whether vectors
// are stored with gaps, by the rounding of sums.
package revlinalg
