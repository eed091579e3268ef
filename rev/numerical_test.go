package rev_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

func TestNumericalErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&rev.SingularError{Index: 2, Condition: mat.Condition(math.Inf(1))}, "matrix singular or near-singular with condition number +Inf: pivot 2 is zero or too small"},
		{&rev.NotPositiveDefiniteError{Row: 3, Value: -0.5}, "matrix not positive definite: pivot 3 is -0.5"},
		{&rev.ConvergenceError{Kernel: "CG", Iterations: 7, Residual: 0.5, Tol: 1e-9}, "CG: not converged after 7 iterations: residual 0.5, want 1e-09"},
		{&rev.ConvergenceError{Kernel: "SVD"}, "SVD: not converged"},
		{&rev.NotPositiveDefiniteError{Row: -1, Value: -0.5}, "matrix not positive definite: vᵀ·A·v = -0.5·vᵀ·v for some v"},
		{&rev.DegenerateError{I: 1, J: 2, Values: [2]float64{3, 3.5}, Gap: 0.5}, "values 1 and 2 are degenerate: 3 and 3.5, a gap of 0.5"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%T: %q, want %q", c.err, got, c.want)
		}
	}
	// A caller of gonum's solvers finds what he looks for.
	var cond mat.Condition
	if err := error(&rev.SingularError{Condition: 1e20}); !errors.As(err, &cond) || cond != 1e20 {
		t.Errorf("SingularError has no mat.Condition: %v", cond)
	}
}
