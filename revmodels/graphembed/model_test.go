package graphembed

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func normals(rnd *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rnd.NormFloat64()
	}
	return x
}

// randomModel returns a model of a random graph and a location.
func randomModel(rnd *rand.Rand, n, fixed, k int, margin float64) (*Model, []float64) {
	var at *mat.Dense
	if fixed > 0 {
		at = mat.NewDense(fixed, k, normals(rnd, fixed*k))
	}
	m := NewModel(randomGraph(rnd, n), k, at, margin)
	return m, normals(rnd, m.Dim())
}

// TestHess compares the Hessian with its products with unit vectors, which
// rev's conformance suite compares with differences.
func TestHess(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, s := range []struct{ n, fixed, k int }{{1, 0, 3}, {2, 0, 1}, {3, 1, 2}, {10, 2, 5}, {10, 0, 10}, {23, 3, 4}, {60, 5, 2}} {
		for _, margin := range []float64{-30, 3} {
			m, x := randomModel(rnd, s.n, s.fixed, s.k, margin)
			if s.n > 5 { // vertices that coincide
				copy(x[:s.k], x[3*s.k:4*s.k])
			}
			n := m.Dim()
			hess := mat.NewSymDense(n, normals(rnd, n*n))
			m.Hess(hess, x)
			unit, column := make([]float64, n), make([]float64, n)
			top := mat.Max(hess) + 1
			for j := range n {
				unit[j] = 1
				m.HessVec(column, x, unit)
				unit[j] = 0
				for i, v := range column {
					if d := math.Abs(v - hess.At(i, j)); !(d <= 1e-13*top) {
						t.Fatalf("%+v: element (%d, %d) is %v, want %v", s, i, j, hess.At(i, j), v)
					}
				}
			}
			for _, workers := range []int{1, 2, 7} {
				m.Workers = workers
				again := mat.NewSymDense(n, nil)
				m.Hess(again, x)
				if !mat.Equal(again, hess) {
					t.Errorf("%+v: %d workers give other bits", s, workers)
				}
			}
		}
	}
}
