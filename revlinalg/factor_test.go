package revlinalg_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/internal/parallel"
	"revnum/rev"
	"revnum/revlinalg"
)

// The kernels of factorisations have the same bits for any number of workers, also
// where many blocks wait for each other.
func TestFactorWorkers(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testFactorWorkers[float64](t, long.Or(530, 290)) })
	t.Run("float32", func(t *testing.T) { testFactorWorkers[float32](t, 290) })
}

func testFactorWorkers[T rev.Float](t *testing.T, n int) {
	for name, run := range map[string]func(rnd *rand.Rand, workers int) []rev.General[T]{
		"Cholesky": func(rnd *rand.Rand, workers int) []rev.General[T] {
			k := revlinalg.Cholesky[T]{L: kerneltest.Matrix[T](rnd, n, n), A: definite[T](rnd, n), Workers: workers}
			g := revlinalg.Cholesky[T]{L: kerneltest.Matrix[T](rnd, n, n), A: kerneltest.Matrix[T](rnd, n, n)}
			if err := k.Adjoint(g); err != nil {
				t.Fatal(err)
			}
			return []rev.General[T]{k.L, g.A}
		},
		"Solve": func(rnd *rand.Rand, workers int) []rev.General[T] {
			random := func() rev.General[T] { return kerneltest.Matrix[T](rnd, n, 201) }
			k := revlinalg.Solve[T]{X: random(), A: regular[T](rnd, n), B: random(), Workers: workers}
			g := revlinalg.Solve[T]{X: random(), A: kerneltest.Matrix[T](rnd, n, n), B: random()}
			if err := k.Adjoint(g); err != nil {
				t.Fatal(err)
			}
			return []rev.General[T]{k.X, g.A, g.B}
		},
		"Inv": func(rnd *rand.Rand, workers int) []rev.General[T] {
			k := revlinalg.Inv[T]{B: kerneltest.Matrix[T](rnd, n, n), A: regular[T](rnd, n), Workers: workers}
			if err := k.Forward(); err != nil {
				t.Fatal(err)
			}
			return []rev.General[T]{k.B}
		},
	} {
		one := run(rand.New(rand.NewPCG(32, 1)), 1)
		for _, workers := range []int{2, 3, 7}[:long.Or(3, 1)] {
			for i, r := range run(rand.New(rand.NewPCG(32, 1)), workers) {
				if !slices.Equal(r.Data, one[i].Data) {
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
			err := revlinalg.Cholesky[float64]{L: kerneltest.Matrix[float64](rnd, n, n), A: a, Workers: workers}.Forward()
			var e *rev.NotPositiveDefiniteError
			if !errors.As(err, &e) || e.Row != at || !(e.Value <= -1) {
				t.Errorf("row %d, %d workers: %v", at, workers, err)
			}
		}
	}
}

// If a block panics while others wait for it, or for blocks that depend on it, the wait
// ends, and the caller gets the panic. (The waits are those of parallel.Sequence.) The workspace works as before
// afterwards. Blocks panic because operands end early, and at any time because of an interrupt.
func TestFactorPanics(t *testing.T) {
	const n = 400
	rnd := rand.New(rand.NewPCG(32, 4))
	a, general := definite[float64](rnd, n), tall[float64](rnd, n+5, n)
	short := func(x rev.General[float64], rows, cols int) rev.General[float64] {
		last := rows*x.Stride + cols
		x.Data = slices.Clone(x.Data[:last:last])
		return x
	}
	type (
		inv      = revlinalg.Inv[float64]
		cholesky = revlinalg.Cholesky[float64]
		qr       = revlinalg.QR[float64]
	)
	results := func() (x, y rev.General[float64]) {
		return rev.NewGeneral[float64](n+5, n, nil), rev.NewGeneral[float64](n, n, nil)
	}
	for _, workers := range []int{7, 1, 2}[:long.Or(3, 1)] {
		// For each: the factors, of which a part may be missing.
		for name, factor := range map[string]func(broken bool) [][]float64{
			"LU": func(broken bool) [][]float64 {
				_, y := results()
				k := inv{B: y, A: a, Workers: workers}
				if broken {
					k.A = short(a, n-1, 0)
				}
				if err := k.Run(rev.Pass[inv]{}); err != nil {
					t.Fatal(err)
				}
				return [][]float64{y.Data}
			},
			"Cholesky": func(broken bool) [][]float64 {
				_, y := results()
				k := cholesky{L: y, A: a, Workers: workers}
				if broken {
					k.A = short(a, 3*tileCols, 0)
				}
				if err := k.Run(rev.Pass[cholesky]{}); err != nil {
					t.Fatal(err)
				}
				return [][]float64{y.Data}
			},
			"adjoint of Cholesky": func(broken bool) [][]float64 {
				_, y := results()
				g := cholesky{L: a, A: y}
				if broken {
					g.A = short(y, 3*tileCols, 0)
				}
				if err := (cholesky{A: a, Workers: workers}).Run(rev.Pass[cholesky]{Back: true, Adjoint: true, G: g}); err != nil {
					t.Fatal(err)
				}
				return [][]float64{y.Data}
			},
			"QR": func(broken bool) [][]float64 {
				x, y := results()
				k := qr{Q: x, R: y, A: general, Workers: workers}
				if broken {
					k.A = short(general, general.Rows-1, 3*qrPanel)
				}
				if err := k.Run(rev.Pass[qr]{}); err != nil {
					t.Fatal(err)
				}
				return [][]float64{x.Data, y.Data}
			},
		} {
			want := factor(false)
			caught := func(broken bool) (v any) { // if it hangs, go test ends it and says where
				defer func() { v = recover() }()
				factor(broken)
				return nil
			}
			check := func() {
				for i, x := range factor(false) {
					if !slices.Equal(x, want[i]) {
						t.Errorf("%s, %d workers: result %d differs after a panic", name, workers, i)
					}
				}
			}
			v := caught(true)
			if _, ok := v.(runtime.Error); !ok {
				t.Errorf("%s, %d workers: panic %v, want that of an index", name, workers, v)
			}
			check()
			for delay := time.Duration(0); ; delay += delay*time.Duration(long.Or(1, 4))/2 + 50*time.Microsecond {
				parallel.Begin()
				interrupted := make(chan struct{})
				interrupt := func() {
					parallel.Calls.Add(math.MinInt32) // what interrupt_calls of ports/capi does, here with a call that runs
					close(interrupted)
				}
				if delay == 0 {
					interrupt()
				} else {
					time.AfterFunc(delay, interrupt)
				}
				v := caught(false)
				<-interrupted
				parallel.End()
				if v == nil && delay > 0 {
					break // it ended before
				}
				if v != any(parallel.ErrInterrupted) {
					t.Fatalf("%s, %d workers: panic %v, want %v", name, workers, v, parallel.ErrInterrupted)
				}
				check()
			}
		}
	}
}

// TestFactorNil makes kernels without outputs, which compute the others, and kernels
// without inputs, which have no shape.
func TestFactorNil(t *testing.T) {
	a := mat.NewDense(2, 2, []float64{4, 0, 0, 9})
	sym := mat.NewSymDense(2, []float64{4, 0, 0, 9})
	s, w, r := mat.NewVecDense(2, nil), mat.NewVecDense(2, nil), mat.NewDense(2, 2, nil)
	gl, gsym := mat.NewTriDense(2, mat.Lower, []float64{1, 0, 0, 1}), mat.NewSymDense(2, nil)
	if err := errors.Join(
		revlinalg.NewSVD(nil, s, nil, a).Forward(),
		revlinalg.NewSymEig(w, nil, sym).Forward(),
		revlinalg.NewQR(nil, r, a).Forward(),
		revlinalg.NewCholesky(nil, sym).Adjoint(revlinalg.NewCholesky(gl, gsym)),
	); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		got  mat.Matrix
		want []float64
	}{
		{"singular values", s, []float64{9, 4}},
		{"eigenvalues", w, []float64{4, 9}},
		{"R", r, []float64{4, 0, 0, 9}},
		{"gradient of Cholesky", gsym, []float64{1. / 4, 0, 0, 1. / 6}},
	} {
		m, n := c.got.Dims()
		if want := mat.NewDense(m, n, c.want); !mat.EqualApprox(c.got, want, 1e-15) {
			t.Errorf("%s: %v, want %v", c.name, mat.Formatted(c.got), mat.Formatted(want))
		}
	}
	for name, f := range map[string]func() error{
		"Cholesky": revlinalg.NewCholesky(gl, nil).Forward,
		"SymEig":   revlinalg.NewSymEig(w, nil, nil).Forward,
		"QR":       revlinalg.NewQR(nil, r, nil).Forward,
	} {
		func() {
			defer func() {
				if got, ok := recover().(error); !ok || !errors.Is(got, mat.ErrShape) {
					t.Errorf("%s of nothing: panic %v, want %v", name, got, mat.ErrShape)
				}
			}()
			_ = f()
		}()
	}
}
