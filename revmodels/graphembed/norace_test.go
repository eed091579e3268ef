//go:build !race && !mutants

package graphembed

import (
	"math/rand/v2"
	"testing"
)

// The race detector has sync.Pool drop objects at random, hence no allocation
// tests with it.

func TestModelAllocations(t *testing.T) {
	for _, n := range []int{10, 700} {
		m, x := randomModel(rand.New(rand.NewPCG(8, 1)), n, 2, 5, 0.1)
		grad, v := make([]float64, m.Dim()), normals(rand.New(rand.NewPCG(8, 2)), m.Dim())
		m.HessVec(grad, x, v)
		for name, f := range map[string]func(){
			"Func":     func() { m.Func(x) },
			"Grad":     func() { m.Grad(grad, x) },
			"FuncGrad": func() { m.FuncGrad(grad, x) },
			"HessVec":  func() { m.HessVec(grad, x, v) },
		} {
			if a := testing.AllocsPerRun(20, f); a != 0 {
				t.Errorf("%s allocates %v times for %d vertices", name, a, n)
			}
		}
	}
}
