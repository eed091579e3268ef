//go:build !race

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
