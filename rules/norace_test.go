//go:build !race && !mutants

package rules

import (
	"slices"
	"testing"
)

// Under the race detector, pools drop some of what is put into them.
func TestNoAllocation(t *testing.T) {
	r := lookup(t, "revlinalg.Dot[float64]")
	x, gx, gy := make([]float64, 8), make([]float64, 8), make([]float64, 8)
	out, outs, one := 0.0, [3]float64{}, 1.0
	k, g := []Buffer{Scalar(&out), Slice(x), Slice(x)}, []Buffer{Scalar(&one), Slice(gx), Slice(gy)}
	for _, p := range []Pass{Forward, Adjoint, Gradient} {
		if n := testing.AllocsPerRun(100, func() {
			if err := r.Call(p, Args{Operands: k, Cotangents: g}); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%v: %v allocations", p, n)
		}
		for _, problems := range []int{1, 3} {
			each := slices.Clone(k)
			each[0] = Scalar(&outs[0])
			each[0].Move = 8 // the vectors are shared
			if n := testing.AllocsPerRun(100, func() {
				if err := r.CallEach(p, Args{Operands: each}, problems); err != nil {
					t.Fatal(err)
				}
			}); n > 0 {
				t.Errorf("%d times %v: %v allocations", problems, p, n)
			}
		}
	}
}
