//go:build !race && !mutants

package ba

import (
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"revnum/revsparse"
)

// The race detector has sync.Pool drop objects at random, hence no allocation
// tests with it.

func TestModelAllocations(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties pools
	m := &Model{Problem: awkward(t), Loss: Huber(1), Workers: 1}
	x, y := m.Params(nil), make([]float64, m.Dim())
	for name, f := range map[string]func(){
		"Func": func() { m.Func(x) },
		"Grad": func() { m.Grad(y, x) },
	} {
		f()
		if n := testing.AllocsPerRun(20, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestCSRToAllocations(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	k := randomWeighted(rand.New(rand.NewPCG(7, 1)), 50)
	var a revsparse.CSR[float64, int32]
	k.CSRTo(&a)
	if n := testing.AllocsPerRun(20, func() { k.CSRTo(&a) }); n != 0 {
		t.Errorf("%v allocations where there is room", n)
	}
}
