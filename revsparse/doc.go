// Package revsparse provides sparse reversible kernels.
//
// A sparse matrix is a CSR, a view of the three arrays of its compressed rows,
// whose indices are int or int32. FromRaw makes one of the raw form of the
// matrices of github.com/james-bowman/sparse, and NewCSR of arrays that it checks;
// both share the storage. FromTriplets makes one of entries in any order, and
// FromMatrix of a gonum matrix; package revsparse/matrixmarket reads and writes files.
// A matrix stored by columns is the CSR of its transpose.
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
// TriSolve, Solve, DominantEig and OperatorEig can fail: their methods return errors
// that carry the number which tells why, and have then written nothing. Methods panic
// with mat.ErrShape and the other values of gonum's mat if the operands do not fit
// together, and with an error that wraps rev.ErrOverlap if an output overlaps an input.
//
// Results are the same bits for any number of workers. They depend on the tier of
// vector code (see internal/simd).
package revsparse
