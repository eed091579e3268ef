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
	t.Run("float64", func(t *testing.T) { testFactorWorkers[float64](t, 530) })
	t.Run("float32", func(t *testing.T) { testFactorWorkers[float32](t, 290) })
}

func testFactorWorkers[T rev.Float](t *testing.T, n int) {
	for _, workers := range []int{2, 3, 7} {
		for name, run := range map[string]func(rnd *rand.Rand, workers int) []rev.General[T]{
			"Cholesky": func(rnd *rand.Rand, workers int) []rev.General[T] {
				k := Cholesky[T]{L: matrixOf[T](rnd, n, n), A: definite[T](rnd, n), Workers: workers}
				g := Cholesky[T]{L: matrixOf[T](rnd, n, n), A: matrixOf[T](rnd, n, n)}
				if err := k.Adjoint(g); err != nil {
					t.Fatal(err)
				}
				return []rev.General[T]{k.L, g.A}
			},
			"Solve": func(rnd *rand.Rand, workers int) []rev.General[T] {
				random := func() rev.General[T] { return matrixOf[T](rnd, n, 201) }
				k := Solve[T]{X: random(), A: regular[T](rnd, n), B: random(), Workers: workers}
				g := Solve[T]{X: random(), A: matrixOf[T](rnd, n, n), B: random()}
				if err := k.Adjoint(g); err != nil {
					t.Fatal(err)
				}
				return []rev.General[T]{k.X, g.A, g.B}
			},
			"Inv": func(rnd *rand.Rand, workers int) []rev.General[T] {
				k := Inv[T]{B: matrixOf[T](rnd, n, n), A: regular[T](rnd, n), Workers: workers}
				if err := k.Forward(); err != nil {
					t.Fatal(err)
				}
				return []rev.General[T]{k.B}
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
