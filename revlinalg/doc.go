// Package revlinalg provides dense reversible kernels: products and reductions of
// vectors and matrices, factorisations, and functions of elements.
//
// A kernel is a struct of its operands, views of memory that the caller owns,
// and reads as the equation on top of its file:
//
//	revlinalg.Dot[float64]{R: &r, X: x, Y: y} // R += Σ x_i·y_i
//
// Its methods are those of rev.Kernel, or of rev.FallibleKernel where they can
// fail, and AdjointTangent of rev.SecondOrder. The constructors
// NewDot, NewLogSumExp and so on take gonum's types and share their storage.
//
// # Contract
//
// Unitary, ComplexUnitary and GivensQR transform their operand in place. All others add their result f to an output: Forward adds f, Inverse
// subtracts it, Adjoint subtracts it and adds the gradient to the cotangents of
// the inputs, and Tangent adds f and its derivative in a direction. Nothing is
// stored between calls; what Adjoint needs of Forward it computes again.
//
// An operand that is nil in the argument of Adjoint or Tangent asks for no
// derivative with respect to it and costs nothing. Constructors take all operands;
// a literal leaves some out:
//
//	k.Adjoint(revlinalg.Affine[float64]{Y: rev.ViewVec(gy), X: rev.ViewVec(gx)})
//
// An output that is nil in the receiver is not computed; what remains is the
// derivative.
//
// Methods panic with mat.ErrShape and the other values of gonum's mat if the
// lengths of operands do not fit together, and with an error that wraps
// rev.ErrOverlap if an output overlaps an input. Nothing has been written then.
// Inputs may share storage, and so may their cotangents.
//
// The factorisations and what rests on them (Cholesky, QR, GramSchmidt, SymEig, SVD,
// TriSolve, Solve, Inv and LogDet) return errors, which carry the number that
// tells why: of gonum's type mat.Condition where a matrix is singular. Functions
// of elements that are not defined everywhere (Log, Sqrt, Atan2, Pow and
// ComplexLog) return a *DomainError. All operands are then as they were.
//
// # Numbers
//
// Kernels with the type parameter rev.Real are over float64, float32 and
// fixed.Q43, those with rev.Float over the first two; their pages say why not over
// fixed point. The kernels whose names begin with Complex are over complex128 alone,
// as there is no complex fixed-point type. Constructors take what gonum has: float64
// and complex128, vectors of which are those of cblas128; rev.ViewVec, rev.ViewDense
// and rev.ViewCDense make operands of a literal of them.
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
