//go:build !race && !mutants

package rules

import "testing"

// Under the race detector, pools drop some of what is put into them.
func TestNoAllocation(t *testing.T) {
	r := lookup(t, "revlinalg.Dot[float64]")
	x, gx, gy := make([]float64, 8), make([]float64, 8), make([]float64, 8)
	out, one := 0.0, 1.0
	k, g := []Buffer{Scalar(&out), Slice(x), Slice(x)}, []Buffer{Scalar(&one), Slice(gx), Slice(gy)}
	for _, p := range []Pass{Forward, Adjoint, Gradient} {
		if n := testing.AllocsPerRun(100, func() {
			if err := r.Call(p, Args{Operands: k, Cotangents: g}); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%v: %v allocations", p, n)
		}
	}
}
