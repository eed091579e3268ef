//go:build !race && !mutants

package revlinalg_test

import (
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/revlinalg"
)

// The race detector has sync.Pool drop objects at random, hence no allocation
// tests with it.

// The suite's sizes do not reach the blocks that workers share.
func TestFactorAllocations(t *testing.T) {
	const n = 300
	rnd := rand.New(rand.NewPCG(32, 3))
	random := func() rev.General[float64] { return kerneltest.Matrix[float64](rnd, n, n) }
	chol := revlinalg.Cholesky[float64]{L: random(), A: definite[float64](rnd, n), Workers: 2}
	gchol := revlinalg.Cholesky[float64]{L: random(), A: random()}
	solve := revlinalg.Solve[float64]{X: random(), A: regular[float64](rnd, n), B: random(), Workers: 2}
	gsolve := revlinalg.Solve[float64]{X: random(), A: random(), B: random()}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties pools
	for name, call := range map[string]func() error{
		"Cholesky": func() error { return chol.Adjoint(gchol) },
		"Solve":    func() error { return solve.Adjoint(gsolve) },
	} {
		var err error
		allocs := func() float64 { return testing.AllocsPerRun(5, func() { err = call() }) }
		// A worker that is interrupted keeps its workspace, and the next one allocates another. A
		// follower that ends while others compute is started again.
		a := allocs()
		for try := 1; a != 0 && try < 4; try++ {
			a = allocs()
		}
		if a != 0 || err != nil {
			t.Errorf("%s: %v allocations in a call (%v)", name, a, err)
		}
	}
}

// TestLocalOperands calls kernels over local variables, which must stay on the stack.
func TestLocalOperands(t *testing.T) {
	x := []float64{1, 2, 3}
	allocs := testing.AllocsPerRun(20, func() {
		var out, norm, alpha float64
		var y, gx [3]float64
		one := 1.0
		dot := revlinalg.Dot[float64]{Out: &out, X: rev.ViewSlice(x), Y: rev.ViewSlice(y[:])}
		dot.Forward()
		dot.Adjoint(revlinalg.Dot[float64]{Out: &one, X: rev.ViewSlice(gx[:])})
		revlinalg.Norm2[float64]{Out: &norm, X: rev.ViewSlice(x)}.Forward()
		revlinalg.Axpy[float64]{Y: rev.ViewSlice(y[:]), Alpha: &alpha, X: rev.ViewSlice(x)}.Forward()
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
