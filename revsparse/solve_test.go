package revsparse_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
	"revnum/revsparse"
)

// wellConditioned returns a matrix for which derivatives can be told from differences.
func wellConditioned[T rev.Float, I revsparse.Index](rnd *rand.Rand, n int) revsparse.CSR[T, I] {
	a := triMatrix[T, I](rnd, n) // diagonally dominant by rows, mostly
	order := rnd.Perm(n)
	b := revsparse.CSR[T, I]{Rows: n, Cols: n, Ptr: []I{0}}
	for _, i := range order {
		b.Ind = append(b.Ind, a.Ind[a.Ptr[i]:a.Ptr[i+1]]...)
		b.Data = append(b.Data, a.Data[a.Ptr[i]:a.Ptr[i+1]]...)
		b.Ptr = append(b.Ptr, I(len(b.Ind)))
	}
	return b
}

func solveSpec[T rev.Float, I revsparse.Index](cols int, trans bool) revtest.Spec[revsparse.Solve[T, I]] {
	spec := revtest.Spec[revsparse.Solve[T, I]]{
		New: func(rnd *rand.Rand, n int) revsparse.Solve[T, I] {
			return revsparse.Solve[T, I]{X: matrixOf[T](rnd, n, cols), A: wellConditioned[T, I](rnd, n), B: matrixOf[T](rnd, n, cols), Trans: trans}
		},
	}
	spec.Failing = func(rnd *rand.Rand, n int) revsparse.Solve[T, I] {
		k := spec.New(rnd, n+1)
		clear(k.A.Data[k.A.Ptr[n/2]:k.A.Ptr[n/2+1]])
		return k
	}
	return spec
}

func TestSolve(t *testing.T) {
	for _, trans := range []bool{false, true} {
		for _, cols := range []int{1, 3} {
			t.Run(fmt.Sprintf("trans=%t/columns=%d", trans, cols), func(t *testing.T) {
				t.Run("float64", func(t *testing.T) { revtest.Kernel(t, solveSpec[float64, int](cols, trans)) })
			})
		}
	}
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, solveSpec[float32, int32](2, false)) })
}

// The dense kernel has the same values and gradients.
func TestSolveDense(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 1))
	for _, trans := range []bool{false, true} {
		const n = 30
		a := revsparse.FromMatrix(toMat(unsymmetric(rnd, n, 3)))
		x, b := mat.NewDense(n, 2, nil), mat.NewDense(n, 2, numbers[float64](rnd, 2*n))
		gx, gb, ga := mat.NewDense(n, 2, numbers[float64](rnd, 2*n)), mat.NewDense(n, 2, nil), a.With(make([]float64, a.NNZ()))
		k, g := revsparse.NewSolve(x, a, b), revsparse.NewSolve(gx, ga, gb)
		full, fx, fgb, fga := toMat(a), mat.NewDense(n, 2, nil), mat.NewDense(n, 2, nil), mat.NewDense(n, n, nil)
		var of mat.Matrix = full
		if trans {
			k, g = revsparse.NewSolveTrans(x, a, b), revsparse.NewSolveTrans(gx, ga, gb)
			of = full.T()
		}
		dk, dg := revlinalg.NewSolve(fx, of, b), revlinalg.NewSolve(gx, of, fgb)
		dg.A = rev.ViewDense(fga)
		if err := errors.Join(k.Forward(), dk.Forward()); err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(x, fx, 1e-10) {
			t.Error("the solution differs")
		}
		if err := errors.Join(k.Adjoint(g), dk.Adjoint(dg)); err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(gb, fgb, 1e-10) {
			t.Error("the gradient of B differs")
		}
		for i := range n {
			for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
				if got, want := ga.Data[p], fga.At(i, a.Ind[p]); !(got-want <= 1e-9*(1+want*want) && want-got <= 1e-9*(1+want*want)) {
					t.Errorf("the gradient of element (%d, %d) is %v, want %v", i, a.Ind[p], got, want)
				}
			}
		}
	}
}

// An upper triangle and a matrix that is not symmetric are solved as they are.
func TestSolveIsOfAllElements(t *testing.T) {
	for _, elements := range [][]float64{{4, 1, 0, 0, 4, 2, 0, 0, 4}, {4, 0, 0, 1, 4, 0, 3, 2, 4}, {0, 1, 0, 0, 0, 2, 3, 0, 0}} {
		a := mat.NewDense(3, 3, elements)
		x, b := mat.NewVecDense(3, nil), mat.NewVecDense(3, []float64{1, 2, 3})
		if err := revsparse.NewSolve(x, revsparse.FromMatrix(a), b).Forward(); err != nil {
			t.Fatal(err)
		}
		var back mat.VecDense
		if back.MulVec(a, x); !mat.EqualApprox(&back, b, 1e-15) {
			t.Errorf("A·x is %v, want %v", back.RawVector().Data, b.RawVector().Data)
		}
	}
}

// Without right-hand sides there is nothing to add to the gradient of A.
func TestSolveNothing(t *testing.T) {
	a := revsparse.FromMatrix(mat.NewDiagDense(2, []float64{2, 4}))
	operands := func() revsparse.Solve[float64, int] {
		return revsparse.Solve[float64, int]{X: rev.NewGeneral[float64](2, 0, nil), A: a.With(make([]float64, 2)), B: rev.NewGeneral[float64](2, 0, nil)}
	}
	k, g, gt := operands(), operands(), operands()
	k.A = a
	if err := errors.Join(k.Adjoint(g), k.AdjointTangent(g, operands(), gt)); err != nil {
		t.Fatal(err)
	}
	for _, x := range [][]float64{g.A.Data, gt.A.Data} {
		if x[0] != 0 || x[1] != 0 {
			t.Errorf("the gradient of A is %v", x)
		}
	}
}

func BenchmarkSolve(b *testing.B) {
	a := convection[int](300, 0.4)
	n := a.Rows
	rnd := rand.New(rand.NewPCG(6, 2))
	k := revsparse.Solve[float64, int]{X: matrixOf[float64](rnd, n, 1), A: a, B: matrixOf[float64](rnd, n, 1)}
	g := revsparse.Solve[float64, int]{X: matrixOf[float64](rnd, n, 1), A: a.With(make([]float64, a.NNZ())), B: matrixOf[float64](rnd, n, 1)}
	b.Run("new values", func(b *testing.B) {
		for b.Loop() {
			a.Data[0] = -a.Data[0]
			if err := k.Forward(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("the same matrix", func(b *testing.B) {
		for b.Loop() {
			if err := k.Forward(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Adjoint", func(b *testing.B) {
		for b.Loop() {
			if err := k.Adjoint(g); err != nil {
				b.Fatal(err)
			}
		}
	})
}
