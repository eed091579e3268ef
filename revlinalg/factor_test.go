package revlinalg

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/internal/parallel"
	"revnum/rev"
)

// The kernels of factorisations have the same bits for any number of workers, also
// where many blocks wait for each other.
func TestFactorWorkers(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testFactorWorkers[float64](t, 530) })
	t.Run("float32", func(t *testing.T) { testFactorWorkers[float32](t, 290) })
}

func testFactorWorkers[T rev.Float](t *testing.T, n int) {
	for name, run := range map[string]func(rnd *rand.Rand, workers int) []rev.General[T]{
		"Cholesky": func(rnd *rand.Rand, workers int) []rev.General[T] {
			k := Cholesky[T]{L: kerneltest.Matrix[T](rnd, n, n), A: definite[T](rnd, n), Workers: workers}
			g := Cholesky[T]{L: kerneltest.Matrix[T](rnd, n, n), A: kerneltest.Matrix[T](rnd, n, n)}
			if err := k.Adjoint(g); err != nil {
				t.Fatal(err)
			}
			return []rev.General[T]{k.L, g.A}
		},
		"Solve": func(rnd *rand.Rand, workers int) []rev.General[T] {
			random := func() rev.General[T] { return kerneltest.Matrix[T](rnd, n, 201) }
			k := Solve[T]{X: random(), A: regular[T](rnd, n), B: random(), Workers: workers}
			g := Solve[T]{X: random(), A: kerneltest.Matrix[T](rnd, n, n), B: random()}
			if err := k.Adjoint(g); err != nil {
				t.Fatal(err)
			}
			return []rev.General[T]{k.X, g.A, g.B}
		},
		"Inv": func(rnd *rand.Rand, workers int) []rev.General[T] {
			k := Inv[T]{B: kerneltest.Matrix[T](rnd, n, n), A: regular[T](rnd, n), Workers: workers}
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
			err := Cholesky[float64]{L: kerneltest.Matrix[float64](rnd, n, n), A: a, Workers: workers}.Forward()
			var e *rev.NotPositiveDefiniteError
			if !errors.As(err, &e) || e.Row != at || !(e.Value <= -1) {
				t.Errorf("row %d, %d workers: %v", at, workers, err)
			}
		}
	}
}

// If a block panics while others wait for it, or for blocks that depend on it, the wait
// ends, and the caller gets the panic. The workspace works as before afterwards.
func TestFactorPanics(t *testing.T) {
	const n = 400
	rnd := rand.New(rand.NewPCG(32, 4))
	a, general := definite[float64](rnd, n), tall[float64](rnd, n+5, n)
	var lu luFactor[float64]
	var cholesky choleskyWork[float64]
	var qr qrWork[float64]
	for _, workers := range []int{1, 2, 7} {
		// For each: the factors, and an elimination that panics late, because the end
		// of its memory has been cut off.
		for name, f := range map[string]struct {
			factor func() [][]float64
			broken func()
		}{
			"LU": {
				func() [][]float64 {
					lu.factor(workers, a)
					lu.join()
					return [][]float64{slices.Clone(lu.lu.Data), slices.Clone(lu.diag)}
				},
				func() {
					lu.factor(workers, a)
					for j := range lu.done {
						lu.done[j].Store(0)
					}
					lu.eliminate(0)
					lu.steps.begin()
					lu.pivots = lu.pivots[:3*tileCols]
					parallel.Run(workers, len(lu.done)*(len(lu.done)-1)/2, &lu)
				},
			},
			"Cholesky": {
				func() [][]float64 {
					if err := cholesky.factor(workers, a); err != nil {
						t.Fatal(err)
					}
					u := scratchCopy(rev.General[float64]{}, cholesky.u)
					clearLower(u)
					return [][]float64{u.Data}
				},
				func() {
					f := &cholesky.factors
					f.begin(n)
					f.a, f.u = a, cholesky.u
					f.load(0)
					f.factor(0)
					last := 3 * n * tileStride
					f.data = f.data[:last:last]
					parallel.Run(workers, len(f.done)*(len(f.done)-1)/2, f)
				},
			},
			"adjoint of Cholesky": {
				func() [][]float64 {
					g := Cholesky[float64]{L: a, A: rev.NewGeneral[float64](n, n, nil)}
					if err := cholesky.factor(workers, a); err != nil {
						t.Fatal(err)
					}
					cholesky.addGradient(workers, g)
					return [][]float64{g.A.Data}
				},
				func() {
					b := &cholesky.back
					b.begin(n)
					b.u, b.gl, b.ga = cholesky.u, a, rev.NewGeneral[float64](n, n, nil)
					last := 3 * n * tileStride
					b.data = slices.Clone(b.data[:last:last])
					parallel.Run(workers, len(b.done)*(len(b.done)+1)/2, b)
				},
			},
			"QR": {
				func() [][]float64 {
					if err := qr.decompose(workers, general, (*qrWork[float64]).householder); err != nil {
						t.Fatal(err)
					}
					return [][]float64{slices.Clone(qr.q.Data), slices.Clone(qr.r.Data)}
				},
				func() {
					strips := qr.t.Rows / qrPanel
					qr.reduced.Store(0)
					qr.steps.begin()
					qr.a = general
					last := 3 * qrPanel * qrPanel
					qr.t.Data = qr.t.Data[:last:last]
					parallel.Run(workers, 2*strips, &qr.reflectors)
				},
			},
		} {
			want := f.factor()
			v := func() (v any) { // if it hangs, go test ends it and says where
				defer func() { v = recover() }()
				f.broken()
				return nil
			}()
			if _, ok := v.(runtime.Error); !ok {
				t.Errorf("%s, %d workers: panic %v, want that of an index", name, workers, v)
			}
			for i, x := range f.factor() {
				if !slices.Equal(x, want[i]) {
					t.Errorf("%s, %d workers: result %d differs after a panic", name, workers, i)
				}
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
		NewSVD(nil, s, nil, a).Forward(),
		NewSymEig(w, nil, sym).Forward(),
		NewQR(nil, r, a).Forward(),
		NewCholesky(nil, sym).Adjoint(NewCholesky(gl, gsym)),
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
		"Cholesky": NewCholesky(gl, nil).Forward,
		"SymEig":   NewSymEig(w, nil, nil).Forward,
		"QR":       NewQR(nil, r, nil).Forward,
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
