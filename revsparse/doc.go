// Package revsparse provides sparse reversible kernels.
//
// A sparse matrix is a CSR: a view of the three arrays of its compressed rows, with
// indices of int or int32. These functions make one:
//
//	ViewCSR       a CSR of github.com/james-bowman/sparse, sharing its storage
//	ViewCSC       a CSC of that package, as its transpose, sharing its storage
//	NewCSR        the three arrays, which it checks and shares
//	FromTriplets  entries in any order
//	FromMatrix    any matrix of gonum, and the COO and DOK of that package
//
// Package revsparse/matrixmarket reads and writes files. A matrix that is stored by
// columns is the CSR of its transpose. ToSparse returns a matrix to
// github.com/james-bowman/sparse. No kernel needs sorted columns in a row.
//
// Packages rev and revlinalg describe the contract of the kernels. The cotangent and
// the tangent of a sparse matrix are values at its entries, so no dense gradient
// arises. Elements that are not stored take no part, even if others are infinite or
// NaN. The structure of a cotangent or tangent is ignored. If its Data is nil, the
// derivative is not computed:
//
//	ga := a.With(make([]float64, a.NNZ()))
//	k.Adjoint(revsparse.NewMul(gc, ga, gb))          // C -= A·B, and both gradients
//	k.Adjoint(revsparse.NewMul(gc, a.With(nil), gb)) // C -= A·B, and the gradient of B
//
// Solve solves systems of equations, and so does LU outside of kernels. If the matrix
// is symmetric and positive definite, CG solves them without factors. If it is
// triangular, use TriSolve.
//
// Solve, CG, TriSolve, DominantEig and OperatorEig return errors that hold the number
// that explains them. Nothing has been written then. If operands do not fit together,
// methods panic with mat.ErrShape or another value of gonum's mat. If an output
// overlaps an input, they panic with an error that wraps rev.ErrOverlap.
//
// # Rounding
//
// In fixed point, Inverse and Adjoint restore the output bit for bit. In floating point
// they subtract the same bits that Forward added. The output is then within one unit in
// the last place of the larger of its values before and after Forward, and lost if the
// sum is infinite or NaN. Kernels that add to an element in several parts say so.
// LogMul has a bound of its own.
//
// Results are the same bits for any number of workers, and whatever else is computed,
// except the cotangent of Alpha in Mul. They depend on the vector code in use.
package revsparse

//go:generate go run revnum/cmd/revgen -instances
