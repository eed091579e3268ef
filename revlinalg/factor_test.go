package revlinalg

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/rev"
)

// The kernels of factorisations have the same bits for any number of workers, also
// where many blocks wait for each other.
func TestFactorWorkers(t *testing.T) {
	const n = 530
	for _, workers := range []int{2, 3, 7} {
		for name, run := range map[string]func(rnd *rand.Rand, workers int) []rev.General[float64]{
			"Cholesky": func(rnd *rand.Rand, workers int) []rev.General[float64] {
				k := Cholesky[float64]{L: matrixOf[float64](rnd, n, n), A: definite[float64](rnd, n), Workers: workers}
				g := Cholesky[float64]{L: matrixOf[float64](rnd, n, n), A: matrixOf[float64](rnd, n, n)}
				if err := k.Adjoint(g); err != nil {
					t.Fatal(err)
				}
				return []rev.General[float64]{k.L, g.A}
			},
			"Solve": func(rnd *rand.Rand, workers int) []rev.General[float64] {
				random := func() rev.General[float64] { return matrixOf[float64](rnd, n, 201) }
				k := Solve[float64]{X: random(), A: regular[float64](rnd, n), B: random(), Workers: workers}
				g := Solve[float64]{X: random(), A: matrixOf[float64](rnd, n, n), B: random()}
				if err := k.Adjoint(g); err != nil {
					t.Fatal(err)
				}
				return []rev.General[float64]{k.X, g.A, g.B}
			},
			"Inv": func(rnd *rand.Rand, workers int) []rev.General[float64] {
				k := Inv[float64]{B: matrixOf[float64](rnd, n, n), A: regular[float64](rnd, n), Workers: workers}
				if err := k.Forward(); err != nil {
					t.Fatal(err)
				}
				return []rev.General[float64]{k.B}
			},
		} {
			one, more := run(rand.New(rand.NewPCG(32, 1)), 1), run(rand.New(rand.NewPCG(32, 1)), workers)
			for i := range one {
				if !slices.Equal(one[i].Data, more[i].Data) {
					t.Errorf("%s, %d workers: the bits of result %d differ", name, workers, i)
				}
			}
		}
	}
}

// Elimination that ends early ends for all workers.
func TestCholeskyFailsLate(t *testing.T) {
	const n = 300
	rnd := rand.New(rand.NewPCG(32, 2))
	for _, at := range []int{0, 70, 199, n - 1} {
		a := definite[float64](rnd, n)
		a.Row(at)[at] = -1
		for _, workers := range []int{1, 2, 7} {
			err := Cholesky[float64]{L: matrixOf[float64](rnd, n, n), A: a, Workers: workers}.Forward()
			var e *NotPositiveDefinite
			if !errors.As(err, &e) || e.Row != at || !(e.Pivot <= -1) {
				t.Errorf("row %d, %d workers: %v", at, workers, err)
			}
		}
	}
}
