package rev

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// SingularError is the error of a kernel that needs a matrix of full rank and gets
// one that is singular to working precision.
type SingularError struct {
	Index     int           // the index of the pivot, diagonal element or singular value that is too small
	Condition mat.Condition // the condition number as far as it is known, +Inf for an exact zero
}

func (e *SingularError) Error() string {
	return fmt.Sprintf("%v: pivot %d is zero or too small", e.Condition, e.Index)
}

// Unwrap returns e.Condition, as gonum's solvers do.
func (e *SingularError) Unwrap() error { return e.Condition }

// NotPositiveDefiniteError is the error of a kernel that needs a positive definite
// matrix A.
type NotPositiveDefiniteError struct {
	Row   int     // the row where the factorisation stops, or -1 for an iteration
	Value float64 // the pivot there, or vᵀ·A·v/vᵀ·v for a direction v of the iteration
}

func (e *NotPositiveDefiniteError) Error() string {
	if e.Row < 0 {
		return fmt.Sprintf("matrix not positive definite: vᵀ·A·v = %g·vᵀ·v for some v", e.Value)
	}
	return fmt.Sprintf("matrix not positive definite: pivot %d is %g", e.Row, e.Value)
}

// DegenerateError is the error of a derivative that depends on eigenvectors or
// singular vectors whose values are equal, or too close to be distinguished.
type DegenerateError struct {
	I, J   int        // the indices of the values
	Values [2]float64 // the values
	Gap    float64    // the gap between them, or between their magnitudes if they are ordered by magnitude
}

func (e *DegenerateError) Error() string {
	return fmt.Sprintf("values %d and %d are degenerate: %v and %v, a gap of %.3g", e.I, e.J, e.Values[0], e.Values[1], e.Gap)
}

// ConvergenceError is the error of an iteration that did not converge.
type ConvergenceError struct {
	Kernel     string  // such as "CG"
	Iterations int     // how many it took, or 0 if that is not known
	Residual   float64 // the relative residual, or NaN after a number that is not finite
	Tol        float64 // what the residual should have come below
}

func (e *ConvergenceError) Error() string {
	if e.Iterations == 0 && e.Tol == 0 {
		return e.Kernel + ": not converged"
	}
	return fmt.Sprintf("%s: not converged after %d iterations: residual %.3g, want %.3g", e.Kernel, e.Iterations, e.Residual, e.Tol)
}
