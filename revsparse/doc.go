// Package revsparse provides sparse reversible kernels.
//
// A sparse matrix is a CSR, a view of the three arrays of its compressed rows, whose
// indices are int or int32. These make one:
//
//	ViewCSR       a CSR of github.com/james-bowman/sparse, sharing its storage
//	ViewCSC       a CSC of that package, as its transpose, sharing its storage
//	NewCSR        the three arrays, which it checks and shares
//	FromTriplets  entries in any order
//	FromMatrix    any matrix of gonum, and the COO and DOK of that package
//
// Package revsparse/matrixmarket reads and writes files. A matrix that is stored by
// columns is the CSR of its transpose. ToSparse returns a matrix to
// github.com/james-bowman/sparse. No kernel needs the columns of a row sorted.
//
// The kernels are those of a contract that package rev and package revlinalg
// describe: Forward adds to the output, Inverse subtracts the same, Adjoint
// subtracts it and adds to the cotangents of the inputs, and Tangent adds it and
// its derivative in a direction. The cotangent and the tangent of a sparse matrix
// are values at its entries: its structure is kept, and no dense gradient arises.
// Elements that are not stored take no part, even where others are infinite or
// NaN. The structure of a cotangent or a tangent is not looked at, and one without
// Data asks for no derivative:
//
//	ga := a.With(make([]float64, a.NNZ()))
//	k.Adjoint(revsparse.NewMul(gc, ga, gb))          // C -= A·B, and both gradients
//	k.Adjoint(revsparse.NewMul(gc, a.With(nil), gb)) // that of B alone
//
// Systems of equations with a square matrix are solved by Solve, or by LU outside of
// kernels. CG solves them if the matrix is symmetric and positive definite, without
// factors of it, and TriSolve if it is triangular.
//
// Solve, CG, TriSolve, DominantEig and OperatorEig can fail: their methods return errors
// that carry the number which tells why, and have then written nothing. Methods panic
// with mat.ErrShape and the other values of gonum's mat if the operands do not fit
// together, and with an error that wraps rev.ErrOverlap if an output overlaps an input.
//
// # Rounding
//
// In fixed point, Inverse and Adjoint restore the output bit for bit. In floating point
// what is added to it is the same bits each time, so they restore it up to the rounding
// of one addition and one subtraction: within one unit in the last place of the larger of
// its values before and after Forward. Kernels that add to an element in several parts
// say so. LogMul adds numbers whose logs it has, and states a bound of its own. If what
// is added is infinite or NaN the output is lost.
//
// Results are the same bits for any number of workers, and, but for the cotangent of
// Alpha in Mul, whatever else is asked for. They depend on the tier of vector code (see
// internal/simd).
package revsparse
