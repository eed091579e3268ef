//go:build !race && !mutants

package gmm

import (
	"math/rand/v2"
	"testing"
)

// The race detector has sync.Pool drop objects at random, hence no allocation
// tests with it.

func TestModelAllocations(t *testing.T) {
	m, x := randomModel(rand.New(rand.NewPCG(1, 6)), 1000, 4, 3)
	grad, v := make([]float64, m.Dim()), normals(rand.New(rand.NewPCG(1, 7)), m.Dim())
	m.HessVec(grad, x, v)
	for name, f := range map[string]func(){
		"Func":     func() { m.Func(x) },
		"Grad":     func() { m.Grad(grad, x) },
		"FuncGrad": func() { m.FuncGrad(grad, x) },
		"HessVec":  func() { m.HessVec(grad, x, v) },
	} {
		if n := testing.AllocsPerRun(20, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	k := random[float64](rand.New(rand.NewPCG(4, 1)), 5, 6, 3000)
	k.Workers = 2
	g := cotangents(k)
	for name, f := range map[string]func(){
		"Forward": k.Forward, "Inverse": k.Inverse,
		"Adjoint": func() { k.Adjoint(g) }, "Tangent": func() { k.Tangent(g) },
	} {
		if n := testing.AllocsPerRun(20, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}
