//go:build !race && !mutants

package revsparse

import (
	"errors"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"revnum/fixed"
	"revnum/rev"
)

// The race detector has sync.Pool drop objects at random, hence no allocation
// tests with it.

// Windows are kept from one call to the next.
func TestMulWindowsAllocations(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 5))
	a := perRow(rnd, 30000, 9, 9)
	k := Mul[float64, int32]{C: matrixOf[float64](rnd, 30000, 1), A: a, B: matrixOf[float64](rnd, 30000, 1), Workers: 1}
	g := Mul[float64, int32]{C: matrixOf[float64](rnd, 30000, 1), B: matrixOf[float64](rnd, 30000, 1)}
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
	k := Mul[fixed.Q43, int32]{C: matrixOf[fixed.Q43](rnd, 300, 3), B: matrixOf[fixed.Q43](rnd, 300, 3), Trans: true, Workers: 1}
	k.A = CSR[fixed.Q43, int32]{Rows: a.Rows, Cols: a.Cols, Ptr: a.Ptr, Ind: a.Ind, Data: numbers[fixed.Q43](rnd, a.NNZ())}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if n := testing.AllocsPerRun(20, func() {
		if err := rev.ForwardChecked(k); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations in a call", n)
	}
}

// A factorisation of a known structure reuses the memory of the one before.
func TestLUAllocations(t *testing.T) {
	var lu LU[int]
	a, b, x := convection[int](20, 0.4), convection[int](20, 0.3), make([]float64, 400)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if n := testing.AllocsPerRun(10, func() {
		if err := errors.Join(lu.Factorize(a), lu.Factorize(b)); err != nil {
			t.Fatal(err)
		}
		lu.factors.solve(x, true)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
