package revsparse

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/rev/revtest"
)

// definite returns a random matrix whose lower triangle is diagonally dominant, so
// that it is that of a positive definite one. Above the diagonal is anything.
func definite[T rev.Float, I Index](rnd *rand.Rand, n int) CSR[T, I] {
	a := triMatrix[T, I](rnd, n)
	for i := range n {
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			if int(a.Ind[p]) == i {
				a.Data[p] = T(math.Abs(float64(a.Data[p])) + 2)
			} else {
				a.Data[p] /= 2
			}
		}
	}
	return a
}

// symmetricOf returns the matrix with the lower triangle of a.
func symmetricOf[I Index](a CSR[float64, I]) *mat.SymDense {
	s := mat.NewSymDense(max(a.Rows, 1), nil)
	d := Dense(a)
	for i := range a.Rows {
		for j := range i + 1 {
			s.SetSym(i, j, d.Row(i)[j])
		}
	}
	return s
}

func solveSpec[T rev.Float, I Index]() revtest.Spec[Solve[T, I]] {
	return revtest.Spec[Solve[T, I]]{
		New: func(rnd *rand.Rand, n int) Solve[T, I] {
			return Solve[T, I]{X: randomVector[T](rnd, n), A: definite[T, I](rnd, n), B: randomVector[T](rnd, n)}
		},
		Large:  3000,
		Masked: []string{"A"}, // what is above the diagonal
		Failing: func(rnd *rand.Rand, n int) Solve[T, I] {
			k := Solve[T, I]{X: randomVector[T](rnd, n+1), A: definite[T, I](rnd, n+1), B: randomVector[T](rnd, n+1)}
			k.A.Data[0], k.A.Ind[0] = -100, 0
			return k
		},
	}
}

func TestSolve(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Fallible(t, solveSpec[float64, int]()) })
	t.Run("float32", func(t *testing.T) { revtest.Fallible(t, solveSpec[float32, int32]()) })
}

// gridLaplacian returns the matrix of the five-point stencil on a grid, 4 on the
// diagonal.
func gridLaplacian[I Index](rows, cols int) CSR[float64, I] {
	a := CSR[float64, I]{Rows: rows * cols, Cols: rows * cols, Ptr: []I{0}}
	for i := range rows {
		for j := range cols {
			at := func(i, j int, v float64) {
				if i >= 0 && i < rows && j >= 0 && j < cols {
					a.Ind, a.Data = append(a.Ind, I(i*cols+j)), append(a.Data, v)
				}
			}
			at(i-1, j, -1)
			at(i, j-1, -1)
			at(i, j, 4)
			at(i, j+1, -1)
			at(i+1, j, -1)
			a.Ptr = append(a.Ptr, I(len(a.Ind)))
		}
	}
	return a
}

// Against gonum's Cholesky factorisation, for matrices that are scaled in every
// way and not too well conditioned.
func TestSolveDense(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 2))
	for _, scale := range []float64{1, 1e-300, 1e300, 1e-10} {
		for _, a := range []CSR[float64, int]{definite[float64, int](rnd, 50), gridLaplacian[int](7, 9), gridLaplacian[int](1, 60)} {
			n := a.Rows
			a.Data = append([]float64(nil), a.Data...)
			for p := range a.Data {
				a.Data[p] *= scale
			}
			var c mat.Cholesky
			if !c.Factorize(symmetricOf(a)) {
				t.Fatal("not positive definite")
			}
			b, x := randomVector[float64](rnd, n), make([]float64, n)
			var want mat.VecDense
			if err := c.SolveVecTo(&want, mat.NewVecDense(n, b.Data)); err != nil {
				t.Fatal(err)
			}
			if err := (Solve[float64, int]{X: rev.ViewSlice(x), A: a, B: b}).Forward(); err != nil {
				t.Fatal(err)
			}
			for i, v := range x {
				if w := want.AtVec(i); !(math.Abs(v-w) <= 1e-14*c.Cond()*mat.Max(&want)) {
					t.Errorf("scale %v: x_%d = %v, want %v", scale, i, v, w)
				}
			}
		}
	}
}

func TestSolveErrors(t *testing.T) {
	// An indefinite matrix with a positive diagonal.
	a := CSR[float64, int]{Rows: 2, Cols: 2, Ptr: []int{0, 1, 3}, Ind: []int{0, 0, 1}, Data: []float64{1, 2, 1}}
	x, b := make([]float64, 2), []float64{1, -1}
	k := Solve[float64, int]{X: rev.ViewSlice(x), A: a, B: rev.ViewSlice(b)}
	var indefinite *NotPositiveDefiniteError
	if err := k.Forward(); !errors.As(err, &indefinite) || indefinite.Curvature != -1 {
		t.Errorf("error %v, want that of the curvature -1", err)
	}
	a.Data[2] = 0
	if err := k.Forward(); !errors.As(err, &indefinite) || indefinite.Curvature != 0 {
		t.Errorf("error %v, want that of the curvature 0", err)
	}

	var late *ConvergenceError
	k = Solve[float64, int]{X: rev.ViewSlice(make([]float64, 900)), A: gridLaplacian[int](30, 30), B: randomVector[float64](rand.New(rand.NewPCG(5, 3)), 900), MaxIter: 10}
	if err := k.Forward(); !errors.As(err, &late) || late.Iterations != 10 || !(late.Residual > 1e-6) || late.Tol != 0x1p-48 {
		t.Errorf("error %v (%+v), want that of ten iterations", err, late)
	}
	k.Tol = late.Residual
	if err := k.Forward(); err != nil {
		t.Errorf("error %v though the tolerance is what was reached", err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		k := Solve[float64, int]{X: rev.ViewSlice(x), A: a, B: rev.ViewSlice([]float64{1, v})}
		a.Data[2] = 9
		if err := k.Forward(); !errors.As(err, &late) || !math.IsNaN(late.Residual) {
			t.Errorf("b with %v: error %v", v, err)
		}
		a.Data[1], k.B.Data[1] = v, 1
		if err := k.Forward(); !errors.As(err, &late) || !math.IsNaN(late.Residual) {
			t.Errorf("A with %v: error %v", v, err)
		}
		a.Data[1] = 2
	}
}

// A tolerance that is out of reach is not taken for an indefinite matrix.
func TestSolveTolOutOfReach(t *testing.T) {
	const n = 6
	rnd := rand.New(rand.NewPCG(5, 4))
	var late *ConvergenceError
	for range 300 {
		a := CSR[float64, int]{Rows: n, Cols: n, Ptr: make([]int, 1, n+1)}
		for i := range n {
			for j := range i {
				a.Ind, a.Data = append(a.Ind, j), append(a.Data, float64(rnd.IntN(3)-1))
			}
			a.Ind, a.Data = append(a.Ind, i), append(a.Data, 2*n)
			a.Ptr = append(a.Ptr, len(a.Ind))
		}
		k := Solve[float64, int]{X: rev.ViewSlice(make([]float64, n)), A: a, B: randomVector[float64](rnd, n)}
		for _, k.Tol = range []float64{1e-300, -1, math.NaN()} {
			// 1e-300 is within reach of a residual of zero.
			if err := k.Forward(); !errors.As(err, &late) && (err != nil || k.Tol != 1e-300) {
				t.Fatalf("tolerance %v: error %v", k.Tol, err)
			}
		}
	}
}

// A system that is badly conditioned, and one that is singular but consistent.
func TestSolveHard(t *testing.T) {
	const n = 100
	a := CSR[float64, int]{Rows: n, Cols: n, Ptr: []int{0}}
	for i := range n { // the second difference, squared: a condition of 1e7
		for j := range i + 1 {
			if v := [...]float64{6, -4, 1}; i-j < 3 {
				a.Ind, a.Data = append(a.Ind, j), append(a.Data, v[i-j])
			}
		}
		a.Ptr = append(a.Ptr, len(a.Ind))
	}
	a.Data[0], a.Data[len(a.Data)-1] = 5, 5
	x, b := make([]float64, n), make([]float64, n)
	for i := range b {
		b[i] = 1
	}
	k := Solve[float64, int]{X: rev.ViewSlice(x), A: a, B: rev.ViewSlice(b)}
	if err := k.Forward(); err != nil {
		t.Fatal(err)
	}
	var c mat.Cholesky
	c.Factorize(symmetricOf(a))
	var want mat.VecDense
	if err := c.SolveVecTo(&want, mat.NewVecDense(n, b)); err != nil {
		t.Fatal(err)
	}
	for i, v := range x {
		if w := want.AtVec(i); !(math.Abs(v-w) <= 1e-7*w) {
			t.Errorf("x_%d = %v, want %v", i, v, w)
		}
	}

	ring := CSR[float64, int]{Rows: 4, Cols: 4, Ptr: []int{0, 1, 3, 5, 8}, Ind: []int{0, 0, 1, 1, 2, 0, 2, 3}, Data: []float64{2, -1, 2, -1, 2, -1, -1, 2}}
	x = make([]float64, 4)
	if err := (Solve[float64, int]{X: rev.ViewSlice(x), A: ring, B: rev.ViewSlice([]float64{1, 0, -1, 0})}).Forward(); err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(x[0]-0.5) < 1e-14 && math.Abs(x[2]+0.5) < 1e-14 && math.Abs(x[1]) < 1e-14) {
		t.Errorf("on a ring: %v", x)
	}
}

// Each iteration reads the matrix once and passes over some 14 vectors.
func BenchmarkSolve(b *testing.B) {
	const side = 300
	a := gridLaplacian[int](side, side)
	n := a.Rows
	rnd := rand.New(rand.NewPCG(5, 5))
	k := Solve[float64, int]{X: randomVector[float64](rnd, n), A: a, B: randomVector[float64](rnd, n), Workers: 1}
	g := Solve[float64, int]{X: randomVector[float64](rnd, n), A: a.With(make([]float64, a.NNZ())), B: randomVector[float64](rnd, n)}
	for _, r := range []struct {
		name string
		call func() error
	}{{"Forward", k.Forward}, {"Adjoint", func() error { return k.Adjoint(g) }}} {
		b.Run(r.name, func(b *testing.B) {
			for b.Loop() {
				if err := r.call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
