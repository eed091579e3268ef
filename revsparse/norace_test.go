//go:build !race && !mutants

package revsparse_test

import (
	"errors"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revsparse"
)

// The race detector has sync.Pool drop objects at random, hence no allocation
// tests with it.

// Windows are kept from one call to the next.
func TestMulWindowsAllocations(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 5))
	a := perRow(rnd, 30000, 9, 9)
	k := revsparse.Mul[float64, int32]{C: matrixOf[float64](rnd, 30000, 1), A: a, B: matrixOf[float64](rnd, 30000, 1), Workers: 1}
	g := revsparse.Mul[float64, int32]{C: matrixOf[float64](rnd, 30000, 1), B: matrixOf[float64](rnd, 30000, 1)}
	g.A = a.With(nil)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties pools
	if n := testing.AllocsPerRun(20, func() { k.Adjoint(g) }); n > 0 {
		t.Errorf("%v allocations in a call", n)
	}
}

// RunChecked counts the terms of columns in memory that it keeps.
func TestMulCheckedAllocations(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 5))
	a := perRow(rnd, 300, 9, 9)
	k := revsparse.Mul[fixed.Q43, int32]{C: matrixOf[fixed.Q43](rnd, 300, 3), B: matrixOf[fixed.Q43](rnd, 300, 3), Trans: true, Workers: 1}
	k.A = revsparse.CSR[fixed.Q43, int32]{Rows: a.Rows, Cols: a.Cols, Ptr: a.Ptr, Ind: a.Ind, Data: numbers[fixed.Q43](rnd, a.NNZ())}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if n := testing.AllocsPerRun(20, func() {
		if err := rev.ForwardChecked(k); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations in a call", n)
	}
}

// A factorisation of a known structure reuses the memory of the one before, and solutions with it take none.
func TestLUAllocations(t *testing.T) {
	var lu revsparse.LU[int]
	a, b := convection[int](20, 0.4), convection[int](20, 0.3)
	k := revsparse.Solve[float64, int]{X: rev.NewGeneral[float64](400, 1, nil), B: rev.NewGeneral[float64](400, 1, nil), Trans: true}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if n := testing.AllocsPerRun(10, func() {
		if err := errors.Join(lu.Factorize(a), lu.Factorize(b)); err != nil {
			t.Fatal(err)
		}
		for _, k.A = range [...]revsparse.CSR[float64, int]{a, b} {
			if err := k.Forward(); err != nil {
				t.Fatal(err)
			}
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// Eigenpairs go on where rounding makes a system indefinite, so that takes no memory but that of CG's error.
func TestCGIndefinite(t *testing.T) {
	a := revsparse.CSR[float64, int]{Rows: 2, Cols: 2, Ptr: []int{0, 1, 3}, Ind: []int{0, 0, 1}, Data: []float64{1, 2, 1}}
	k := revsparse.CG[float64, int]{X: rev.ViewSlice(make([]float64, 2)), A: a, B: rev.ViewSlice([]float64{1, -1})}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var err error
	n := testing.AllocsPerRun(5, func() { err = k.Forward() })
	var indefinite *rev.NotPositiveDefiniteError
	if !errors.As(err, &indefinite) || indefinite.Row != -1 || indefinite.Value != -1 {
		t.Errorf("error %v, want that of the curvature -1", err)
	}
	if n != 1 {
		t.Errorf("%v allocations, want that of the error", n)
	}
}
