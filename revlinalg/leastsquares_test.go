package revlinalg_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func leastSquaresSpec[T rev.Float](extra int) revtest.Spec[revlinalg.LeastSquares[T]] {
	build := func(rnd *rand.Rand, a rev.General[T]) revlinalg.LeastSquares[T] {
		cols := 1 + a.Cols%4
		return revlinalg.LeastSquares[T]{X: kerneltest.Matrix[T](rnd, a.Cols, cols), A: a, B: kerneltest.Matrix[T](rnd, a.Rows, cols)}
	}
	return revtest.Spec[revlinalg.LeastSquares[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.LeastSquares[T] {
			return build(rnd, tall[T](rnd, size+extra, size))
		},
		Large:     150,
		RoundTrip: 4, // the sum may be larger than either
		Free:      []string{"B.Cols"},
		Failing: func(rnd *rand.Rand, size int) revlinalg.LeastSquares[T] {
			return build(rnd, deficientTall[T](rnd, size+1+extra, size+1))
		},
	}
}

func TestLeastSquares(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, leastSquaresSpec[float64](3)) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, leastSquaresSpec[float32](2)) })
	t.Run("square", func(t *testing.T) { revtest.Kernel(t, leastSquaresSpec[float64](0)) })
}

// Values are gonum's, also for the pseudo-inverse, and residuals are orthogonal to the columns of A.
func TestLeastSquaresValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(86, 1))
	for _, c := range [][2]int{{1, 1}, {9, 4}, {100, 30}, {60, 60}} {
		m, n := c[0], c[1]
		a := mat.NewDense(m, n, kerneltest.Normals[float64](rnd, m*n, 1))
		for _, b := range []*mat.Dense{mat.NewDense(m, 5, kerneltest.Normals[float64](rnd, m*5, 1)), identity(m)} {
			var want, got, residual, normal mat.Dense
			if err := errors.Join(want.Solve(a, b), revlinalg.NewLeastSquares(&got, a, b).Forward()); err != nil {
				t.Fatal(err)
			}
			residual.Mul(a, &got)
			residual.Sub(b, &residual)
			normal.Mul(a.T(), &residual)
			if !mat.EqualApprox(&got, &want, 1e-9) || !(mat.Norm(&normal, 2) <= 1e-11) {
				t.Errorf("%d×%d: not gonum's solution, or not orthogonal: %v", m, n, mat.Norm(&normal, 2))
			}
		}
	}
	// A line through (0, 1), (1, 3), (2, 4), by its formulas.
	var x mat.VecDense
	if err := revlinalg.NewLeastSquaresVec(&x, mat.NewDense(3, 2, []float64{1, 0, 1, 1, 1, 2}), mat.NewVecDense(3, []float64{1, 3, 4})).Forward(); err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(x.AtVec(0)-7./6) <= 1e-14 && math.Abs(x.AtVec(1)-1.5) <= 1e-14) {
		t.Errorf("the line is %v", mat.Formatted(&x))
	}
}

func identity(n int) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	for i := range n {
		m.Set(i, i, 1)
	}
	return m
}

// B̄ lies in the range of A, and Aᵀ·B̄ is X̄.
func TestLeastSquaresGradient(t *testing.T) {
	rnd := rand.New(rand.NewPCG(86, 2))
	const m, n = 20, 6
	k := leastSquaresSpec[float64](m-n).New(rnd, n)
	g := revlinalg.LeastSquares[float64]{X: kerneltest.Matrix[float64](rnd, k.X.Rows, k.X.Cols), B: rev.NewGeneral[float64](k.B.Rows, k.B.Cols, nil)}
	want := append([]float64(nil), g.X.Data...)
	if err := k.Adjoint(g); err != nil {
		t.Fatal(err)
	}
	got := rev.NewGeneral[float64](k.X.Rows, k.X.Cols, nil)
	revlinalg.MatMul[float64]{C: got, A: k.A, B: g.B, TransA: true}.Forward()
	for i, v := range got.Data {
		if !(math.Abs(v-want[i]) <= 1e-12) {
			t.Errorf("element %d of Aᵀ·B̄ is %v, want %v", i, v, want[i])
		}
	}
}

func TestLeastSquaresWide(t *testing.T) {
	defer func() {
		if err, ok := recover().(*rev.OperandError); !ok || !errors.Is(err, mat.ErrShape) {
			t.Errorf("a matrix of more columns than rows: %v", err)
		}
	}()
	var x mat.Dense
	_ = revlinalg.NewLeastSquares(&x, mat.NewDense(2, 3, nil), mat.NewDense(2, 1, nil)).Forward()
}
