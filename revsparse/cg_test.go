package revsparse_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revsparse"
)

// definite returns the lower triangle of a random positive definite matrix, which is
// diagonally dominant.
func definite[T rev.Float, I revsparse.Index](rnd *rand.Rand, n int) revsparse.CSR[T, I] {
	a := lowerTriangle(triMatrix[T, I](rnd, n))
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

// lowerTriangle returns the lower triangle of a.
func lowerTriangle[T rev.Float, I revsparse.Index](a revsparse.CSR[T, I]) revsparse.CSR[T, I] {
	l := revsparse.CSR[T, I]{Rows: a.Rows, Cols: a.Cols, Ptr: []I{0}}
	for i := range a.Rows {
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			if int(a.Ind[p]) <= i {
				l.Ind, l.Data = append(l.Ind, a.Ind[p]), append(l.Data, a.Data[p])
			}
		}
		l.Ptr = append(l.Ptr, I(len(l.Ind)))
	}
	return l
}

// withMirror returns the symmetric matrix with the lower triangle a, the entries above the
// diagonal before those of a, and in two parts.
func withMirror(a revsparse.CSR[float64, int]) revsparse.CSR[float64, int] {
	t, f := a.Transpose(), revsparse.CSR[float64, int]{Rows: a.Rows, Cols: a.Cols, Ptr: []int{0}}
	for i := range a.Rows {
		for p := t.Ptr[i]; p < t.Ptr[i+1]; p++ {
			if t.Ind[p] > i {
				f.Ind, f.Data = append(f.Ind, t.Ind[p], t.Ind[p]), append(f.Data, t.Data[p]/4, 3*t.Data[p]/4)
			}
		}
		f.Ind, f.Data = append(f.Ind, a.Ind[a.Ptr[i]:a.Ptr[i+1]]...), append(f.Data, a.Data[a.Ptr[i]:a.Ptr[i+1]]...)
		f.Ptr = append(f.Ptr, len(f.Ind))
	}
	return f
}

// symmetricOf returns the matrix with the lower triangle of a.
func symmetricOf[I revsparse.Index](a revsparse.CSR[float64, I]) *mat.SymDense {
	s := mat.NewSymDense(max(a.Rows, 1), nil)
	d := revsparse.Dense(a)
	for i := range a.Rows {
		for j := range i + 1 {
			s.SetSym(i, j, d.Row(i)[j])
		}
	}
	return s
}

func cgSpec[T rev.Float, I revsparse.Index]() revtest.Spec[revsparse.CG[T, I]] {
	return revtest.Spec[revsparse.CG[T, I]]{
		New: func(rnd *rand.Rand, n int) revsparse.CG[T, I] {
			return revsparse.CG[T, I]{X: randomVector[T](rnd, n), A: definite[T, I](rnd, n), B: randomVector[T](rnd, n)}
		},
		Large: 3000,
		Failing: func(rnd *rand.Rand, n int) revsparse.CG[T, I] {
			k := revsparse.CG[T, I]{X: randomVector[T](rnd, n+1), A: definite[T, I](rnd, n+1), B: randomVector[T](rnd, n+1)}
			k.A.Data[0], k.A.Ind[0] = -100, 0
			return k
		},
	}
}

func TestCG(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, cgSpec[float64, int]()) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, cgSpec[float32, int32]()) })
}

// gridLaplacian returns the matrix of the five-point stencil on a grid, 4 on the
// diagonal.
func gridLaplacian[I revsparse.Index](rows, cols int) revsparse.CSR[float64, I] {
	a := revsparse.CSR[float64, I]{Rows: rows * cols, Cols: rows * cols, Ptr: []I{0}}
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
func TestCGDense(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 2))
	for _, scale := range []float64{1, 1e-300, 1e300, 1e-10} {
		for _, a := range []revsparse.CSR[float64, int]{definite[float64, int](rnd, 50), gridLaplacian[int](7, 9), gridLaplacian[int](1, 60)} {
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
			if err := (revsparse.CG[float64, int]{X: rev.ViewSlice(x), A: a, B: b}).Forward(); err != nil {
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

func TestCGErrors(t *testing.T) {
	// An indefinite matrix with a positive diagonal.
	a := revsparse.CSR[float64, int]{Rows: 2, Cols: 2, Ptr: []int{0, 1, 3}, Ind: []int{0, 0, 1}, Data: []float64{1, 2, 1}}
	x, b := make([]float64, 2), []float64{1, -1}
	k := revsparse.CG[float64, int]{X: rev.ViewSlice(x), A: a, B: rev.ViewSlice(b)}
	var indefinite *rev.NotPositiveDefiniteError
	if err := k.Forward(); !errors.As(err, &indefinite) || indefinite.Value != -1 {
		t.Errorf("error %v, want that of the curvature -1", err)
	}
	a.Data[2] = 0
	if err := k.Forward(); !errors.As(err, &indefinite) || indefinite.Value != 0 {
		t.Errorf("error %v, want that of the curvature 0", err)
	}

	var late *rev.ConvergenceError
	k = revsparse.CG[float64, int]{X: rev.ViewSlice(make([]float64, 900)), A: gridLaplacian[int](30, 30), B: randomVector[float64](rand.New(rand.NewPCG(5, 3)), 900), MaxIter: 10}
	if err := k.Forward(); !errors.As(err, &late) || late.Iterations != 10 || !(late.Residual > 1e-6) || late.Tol != 0x1p-48 {
		t.Errorf("error %v (%+v), want that of ten iterations", err, late)
	}
	k.Tol = late.Residual
	if err := k.Forward(); err != nil {
		t.Errorf("error %v though the tolerance is what was reached", err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		k := revsparse.CG[float64, int]{X: rev.ViewSlice(x), A: a, B: rev.ViewSlice([]float64{1, v})}
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

// Both triangles give the same as one: to the bit, and in the gradient by the lower one.
func TestCGBothTriangles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 9, 200} {
		a := definite[float64, int](rnd, n)
		full := withMirror(a)
		b, gx := randomVector[float64](rnd, n), randomVector[float64](rnd, n)
		solve := func(a revsparse.CSR[float64, int]) (x []float64, ga revsparse.CSR[float64, int]) {
			x, ga = make([]float64, n), a.With(make([]float64, a.NNZ()))
			k := revsparse.CG[float64, int]{X: rev.ViewSlice(x), A: a, B: b}
			if err := errors.Join(k.Forward(), k.Adjoint(revsparse.CG[float64, int]{X: gx, A: ga}), k.Forward()); err != nil {
				t.Fatal(err)
			}
			return x, ga
		}
		x, ga := solve(a)
		fx, gf := solve(full)
		if !slices.Equal(fx, x) || !slices.Equal(lowerTriangle(gf).Data, ga.Data) {
			t.Errorf("n=%d: both triangles give another solution or gradient", n)
		}
		x, _ = solve(a) // the matrix before is not taken for this one
		if !slices.Equal(fx, x) {
			t.Errorf("n=%d: the lower triangle gives another solution after both", n)
		}
	}
}

func TestNotSymmetric(t *testing.T) {
	matrix := func(elements ...float64) revsparse.CSR[float64, int] {
		return revsparse.FromMatrix(mat.NewDense(3, 3, elements))
	}
	for _, c := range []struct {
		name string
		a    revsparse.CSR[float64, int]
		want *revsparse.NotSymmetricError
	}{
		{"symmetric", matrix(4, 1, 0, 1, 4, 1, 0, 1, 4), nil},
		{"lower triangle", matrix(4, 0, 0, 1, 4, 0, 0, 1, 4), nil},
		{"upper triangle", matrix(4, 1, 0, 0, 4, 2, 0, 0, 4), &revsparse.NotSymmetricError{2, 1, 0, 2}},
		{"not symmetric", matrix(4, 1, 0, 1, 4, 0.5, 1, 0.25, 4), &revsparse.NotSymmetricError{2, 0, 1, 0}},
		{"a rounding error", matrix(4, 1+0x1p-50, 0, 1, 4, 1, 0, 1, 4), nil},
		{"a rounding error too large", matrix(4, 1+0x1p-44, 0, 1, 4, 1, 0, 1, 4), &revsparse.NotSymmetricError{1, 0, 1, 1 + 0x1p-44}},
		{"infinite above", matrix(4, 0, math.Inf(1), 0, 4, 0, 0, 0, 4), &revsparse.NotSymmetricError{2, 0, 0, math.Inf(1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := mat.NewVecDense(3, []float64{7, 8, 9})
			check := func(err error) {
				t.Helper()
				var e *revsparse.NotSymmetricError
				switch {
				case c.want == nil && err != nil:
					t.Errorf("error %v", err)
				case c.want != nil && (!errors.As(err, &e) || *e != *c.want):
					t.Errorf("error %v, want %v", err, c.want)
				case c.want != nil && (x.AtVec(0) != 7 || x.AtVec(1) != 8 || x.AtVec(2) != 9):
					t.Errorf("x is %v", x.RawVector().Data)
				}
			}
			for range 2 {
				check(revsparse.NewCG(x, c.a, mat.NewVecDense(3, []float64{1, 2, 3})).Forward())
				check(revsparse.NewDominantEig(x.SliceVec(0, 1).(*mat.VecDense), nil, c.a).Forward())
			}
		})
	}

	// A matrix that is changed in its place is looked at anew.
	a := matrix(4, 1, 0, 1, 4, 1, 0, 1, 4)
	k := revsparse.NewCG(mat.NewVecDense(3, nil), a, mat.NewVecDense(3, nil))
	var e *revsparse.NotSymmetricError
	if err := k.Forward(); err != nil {
		t.Error(err)
	}
	a.Data[1] = 2
	if err := k.Forward(); !errors.As(err, &e) {
		t.Errorf("error %v after the matrix has changed", err)
	}
	a.Data[1] = 1
	if err := k.Forward(); err != nil {
		t.Error(err)
	}
	a.Data[0] = -1
	var indefinite *rev.NotPositiveDefiniteError
	for range 2 {
		if err := k.Forward(); !errors.As(err, &indefinite) {
			t.Errorf("error %v, want that of a matrix that is not positive definite", err)
		}
	}
}

// A tolerance that is out of reach is not taken for an indefinite matrix.
func TestCGTolOutOfReach(t *testing.T) {
	const n = 6
	rnd := rand.New(rand.NewPCG(5, 4))
	var late *rev.ConvergenceError
	for range 300 {
		a := revsparse.CSR[float64, int]{Rows: n, Cols: n, Ptr: make([]int, 1, n+1)}
		for i := range n {
			for j := range i {
				a.Ind, a.Data = append(a.Ind, j), append(a.Data, float64(rnd.IntN(3)-1))
			}
			a.Ind, a.Data = append(a.Ind, i), append(a.Data, 2*n)
			a.Ptr = append(a.Ptr, len(a.Ind))
		}
		k := revsparse.CG[float64, int]{X: rev.ViewSlice(make([]float64, n)), A: a, B: randomVector[float64](rnd, n)}
		for _, k.Tol = range []float64{1e-300, -1, math.NaN()} {
			// 1e-300 is within reach of a residual of zero.
			if err := k.Forward(); !errors.As(err, &late) && (err != nil || k.Tol != 1e-300) {
				t.Fatalf("tolerance %v: error %v", k.Tol, err)
			}
		}
	}
}

// A system that is badly conditioned, and one that is singular but consistent.
func TestCGHard(t *testing.T) {
	const n = 100
	a := revsparse.CSR[float64, int]{Rows: n, Cols: n, Ptr: []int{0}}
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
	k := revsparse.CG[float64, int]{X: rev.ViewSlice(x), A: a, B: rev.ViewSlice(b)}
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

	ring := revsparse.CSR[float64, int]{Rows: 4, Cols: 4, Ptr: []int{0, 1, 3, 5, 8}, Ind: []int{0, 0, 1, 1, 2, 0, 2, 3}, Data: []float64{2, -1, 2, -1, 2, -1, -1, 2}}
	x = make([]float64, 4)
	if err := (revsparse.CG[float64, int]{X: rev.ViewSlice(x), A: ring, B: rev.ViewSlice([]float64{1, 0, -1, 0})}).Forward(); err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(x[0]-0.5) < 1e-14 && math.Abs(x[2]+0.5) < 1e-14 && math.Abs(x[1]) < 1e-14) {
		t.Errorf("on a ring: %v", x)
	}
}

// Each iteration reads the matrix once and passes over some 14 vectors.
func BenchmarkCG(b *testing.B) {
	const side = 300
	a := gridLaplacian[int](side, side)
	n := a.Rows
	rnd := rand.New(rand.NewPCG(5, 5))
	k := revsparse.CG[float64, int]{X: randomVector[float64](rnd, n), A: a, B: randomVector[float64](rnd, n), Workers: 1}
	g := revsparse.CG[float64, int]{X: randomVector[float64](rnd, n), A: a.With(make([]float64, a.NNZ())), B: randomVector[float64](rnd, n)}
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
