package examples

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/revlinalg"
)

// gaussian adds to loss the negative logarithm of the density of the columns of x under
// a normal distribution with mean 0 and covariance a, without its constant:
//
//	A = L·Lᵀ,  Y = L⁻¹·X,  loss += ½·‖Y‖² + m·Σᵢ log Lᵢᵢ,
//
// where m is the number of columns. l and y are zero before, and again after it. Only the
// upper triangle of a is read. If A is not positive definite, the error is a
// *rev.NotPositiveDefiniteError.
//
//revgen:kernel Gaussian[T rev.Float]
func gaussian(loss *float64, l, y, a, x *mat.Dense) error {
	if err := (revlinalg.Cholesky[float64]{L: rev.ViewDense(l), A: rev.ViewDense(a)}).Forward(); err != nil {
		return fmt.Errorf("covariance: %w", err)
	}
	if err := (revlinalg.TriSolve[float64]{X: rev.ViewDense(y), A: rev.ViewDense(l), B: rev.ViewDense(x)}).Forward(); err != nil {
		return err
	}
	n, m := x.Dims()
	squares, logs := 0.0, 0.0
	for i := range n {
		logs += math.Log(l.At(i, i))
		for j := range m {
			squares += y.At(i, j) * y.At(i, j)
		}
	}
	*loss += squares/2 + float64(m)*logs
	if err := (revlinalg.TriSolve[float64]{X: rev.ViewDense(y), A: rev.ViewDense(l), B: rev.ViewDense(x)}).Inverse(); err != nil {
		return err
	}
	return revlinalg.Cholesky[float64]{L: rev.ViewDense(l), A: rev.ViewDense(a)}.Inverse()
}
