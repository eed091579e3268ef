package revlinalg_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// regular returns a matrix of a small condition number that needs pivoting:
// rows of a dominant diagonal, in another order.
func regular[T rev.Float](rnd *rand.Rand, n int) rev.General[T] {
	a := rev.NewGeneral(n, n, kerneltest.Normals[T](rnd, n*n, 1/math.Sqrt(float64(n+1))))
	for i, j := range rnd.Perm(n) {
		a.Row(i)[j] += T(3 - 6*rnd.IntN(2))
	}
	return a
}

// deficient returns a matrix of rank n-1.
func deficient[T rev.Float](rnd *rand.Rand, n int) rev.General[T] {
	a := regular[T](rnd, n)
	for i := range n {
		s := T(0)
		for j := range n - 1 {
			s += a.Row(i)[j]
		}
		a.Row(i)[n-1] = s
	}
	return a
}

func solveSpec[T rev.Float](trans bool) revtest.Spec[revlinalg.Solve[T]] {
	return revtest.Spec[revlinalg.Solve[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.Solve[T] {
			cols := 1 + size%4
			return revlinalg.Solve[T]{
				X: kerneltest.Matrix[T](rnd, size, cols), A: regular[T](rnd, size), B: kerneltest.Matrix[T](rnd, size, cols),
				TransA: trans,
			}
		},
		Large:     150,
		RoundTrip: 4, // the sum may be larger than either
		Free:      []string{"B.Cols"},
		Failing: func(rnd *rand.Rand, size int) revlinalg.Solve[T] {
			return revlinalg.Solve[T]{
				X: kerneltest.Matrix[T](rnd, size+1, 2), A: deficient[T](rnd, size+1), B: kerneltest.Matrix[T](rnd, size+1, 2),
				TransA: trans,
			}
		},
	}
}

func TestSolve(t *testing.T) {
	for _, trans := range []bool{false, true} {
		t.Run(fmt.Sprintf("float64/trans=%t", trans), func(t *testing.T) { revtest.Kernel(t, solveSpec[float64](trans)) })
	}
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, solveSpec[float32](false)) })
	t.Run("blocks", func(t *testing.T) {
		spec := solveSpec[float64](true)
		spec.Sizes = []int{luLeaf + 1, tileCols, tileCols + 1, 71}
		revtest.Kernel(t, spec)
	})
}

func TestSolveValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(21, 1))
	for _, n := range []int{1, 4, smallOrder, smallOrder + 1, 33, 150} {
		for _, cols := range []int{1, 5, smallOrder, 100} {
			a := mat.NewDense(n, n, kerneltest.Normals[float64](rnd, n*n, 1))
			b := mat.NewDense(n, cols, kerneltest.Normals[float64](rnd, n*cols, 1))
			for _, m := range []mat.Matrix{a, a.T()} {
				var want mat.Dense
				if err := want.Solve(m, b); err != nil {
					t.Fatal(err)
				}
				got := mat.NewDense(n, cols, nil)
				if err := revlinalg.NewSolve(got, m, b).Forward(); err != nil {
					t.Fatal(err)
				}
				if !mat.EqualApprox(got, &want, 1e-9) {
					t.Errorf("n=%d, %d columns: not gonum's solution", n, cols)
				}
			}
		}
	}
}

// The residual is small however ill-conditioned the matrix, and its scale and
// that of its columns do not matter.
func TestSolveResidual(t *testing.T) {
	const n = 60
	for _, scale := range []float64{1, 0x1p-900, 0x1p900} {
		rnd := rand.New(rand.NewPCG(21, 2))
		a := rev.NewGeneral(n, n, kerneltest.Normals[float64](rnd, n*n, scale))
		for i := range n {
			a.Row(i)[n-1] = a.Row(i)[0] + 1e-9*scale*rnd.NormFloat64() // condition 1e10
			a.Row(i)[7] *= 0x1p-80
		}
		b := make([]float64, n)
		for i := range b {
			b[i] = scale
		}
		x := rev.NewGeneral[float64](n, 1, nil)
		if err := (revlinalg.Solve[float64]{X: x, A: a, B: rev.NewGeneral(n, 1, b)}).Forward(); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			sum, magnitude := -b[i], 0.0
			for j, v := range a.Row(i) {
				sum += v * x.Data[j]
				magnitude += math.Abs(v * x.Data[j])
			}
			if !(math.Abs(sum) <= 1e-13*magnitude) {
				t.Errorf("scale %g: residual %g of row %d, of terms %g", scale, sum, i, magnitude)
			}
		}
	}
}

func TestSolveSingular(t *testing.T) {
	for _, a := range [][]float64{{0, 0, 0, 0}, {1, 2, 2, 4}, {1, 0, 1, 0}} {
		x := mat.NewDense(2, 1, []float64{7, 8})
		err := revlinalg.NewSolve(x, mat.NewDense(2, 2, a), mat.NewDense(2, 1, []float64{1, 1})).Forward()
		var c mat.Condition
		if !errors.As(err, &c) || !math.IsInf(float64(c), 1) || x.At(0, 0) != 7 {
			t.Errorf("%v: error %v, X %v", a, err, x)
		}
	}
	// A pivot of rounding errors is seen as such.
	a := deficient[float64](rand.New(rand.NewPCG(21, 3)), 50)
	err := revlinalg.Solve[float64]{A: a, B: rev.NewGeneral[float64](50, 1, nil)}.Forward()
	var c mat.Condition
	if !errors.As(err, &c) || !(c > 1e13) {
		t.Errorf("error %v for a matrix of rank 49", err)
	}
}

// Rows of very different magnitudes do not make a matrix singular: multiplied by
// powers of two, they change the inverse by the same powers, and all that is computed
// of it.
func TestScaledRows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(21, 5))
	for _, n := range []int{2, 5, 60} {
		for _, trans := range []bool{false, true} {
			a := regular[float64](rnd, n)
			if n == 2 {
				copy(a.Data, []float64{1, 2, 3, 4})
			}
			scaled := rev.NewGeneral(n, n, slices.Clone(a.Data))
			shifts := make([]int, n)
			for i := range n {
				shifts[i] = -70 * (i % 3)
				for j := range n {
					scaled.Row(i)[j] = math.Ldexp(scaled.Row(i)[j], shifts[i])
				}
			}
			b := kerneltest.Matrix[float64](rnd, n, 3)
			bScaled := rev.NewGeneral(n, 3, slices.Clone(b.Data))
			if !trans {
				for i, shift := range shifts {
					for j, v := range bScaled.Row(i) {
						bScaled.Row(i)[j] = math.Ldexp(v, shift)
					}
				}
			}
			x, y, inv := rev.NewGeneral[float64](n, 3, nil), rev.NewGeneral[float64](n, 3, nil), rev.NewGeneral[float64](n, n, nil)
			var logDet, sign, wantLog, wantSign float64
			if err := errors.Join(
				revlinalg.Solve[float64]{X: y, A: a, B: b, TransA: trans}.Forward(),
				revlinalg.Solve[float64]{X: x, A: scaled, B: bScaled, TransA: trans}.Forward(),
				revlinalg.Inv[float64]{B: inv, A: scaled}.Forward(),
				revlinalg.LogDet[float64]{Out: &wantLog, Sign: &wantSign, A: a}.Forward(),
				revlinalg.LogDet[float64]{Out: &logDet, Sign: &sign, A: scaled}.Forward(),
			); err != nil {
				t.Fatalf("n=%d, trans=%t: %v", n, trans, err)
			}
			for i := range n {
				wantLog += float64(shifts[i]) * math.Ln2
				for j := range 3 {
					got, want := x.Row(i)[j], y.Row(i)[j]
					if trans {
						got = math.Ldexp(got, shifts[i])
					}
					if !(math.Abs(got-want) <= 1e-11) {
						t.Errorf("n=%d, trans=%t: solution (%d, %d) is %v, want %v", n, trans, i, j, got, want)
					}
				}
				for j := range n { // of A·A⁻¹
					sum := 0.0
					for l := range n {
						sum += scaled.Row(i)[l] * inv.Row(l)[j]
					}
					sum = math.Ldexp(sum, shifts[j]-shifts[i])
					if want := float64(1 - min(1, max(i-j, j-i))); !(math.Abs(sum-want) <= 1e-11) {
						t.Errorf("n=%d: product (%d, %d) with the inverse is %v, want %v", n, i, j, sum, want)
					}
				}
			}
			if !kerneltest.Near(logDet, wantLog, 1e-13) || sign != wantSign {
				t.Errorf("n=%d: log det %v and sign %v, want %v and %v", n, logDet, sign, wantLog, wantSign)
			}
		}
	}
	// Scaled, it is singular still.
	err := revlinalg.Solve[float64]{A: rev.NewGeneral(2, 2, []float64{1, 2, 1e-20, 2e-20}), B: rev.NewGeneral[float64](2, 1, nil)}.Forward()
	if c := mat.Condition(0); !errors.As(err, &c) {
		t.Errorf("error %v", err)
	}
}

// NaN below a pivot that is zero is no sign of a singular matrix.
func TestSolveNaN(t *testing.T) {
	nan := math.NaN()
	for _, a := range [][]float64{{0, 1, nan, 1}, {nan, 1, 0, 1}, {0, nan, nan, 0}} {
		a := mat.NewDense(2, 2, a)
		x, b := mat.NewDense(2, 1, nil), mat.NewDense(2, 2, nil)
		if err := revlinalg.NewSolve(x, a, mat.NewDense(2, 1, []float64{1, 2})).Forward(); err != nil || !math.IsNaN(x.At(0, 0)) || !math.IsNaN(x.At(1, 0)) {
			t.Errorf("%v: X is %v, error %v", a.RawMatrix().Data, x.RawMatrix().Data, err)
		}
		if err := revlinalg.NewInv(b, a).Forward(); err != nil || !math.IsNaN(mat.Sum(b)) {
			t.Errorf("%v: inverse %v, error %v", a.RawMatrix().Data, b.RawMatrix().Data, err)
		}
		var det, sign float64
		if err := revlinalg.NewLogDet(&det, &sign, a).Forward(); err != nil || !math.IsNaN(det) || !math.IsNaN(sign) {
			t.Errorf("%v: log det %v, sign %v, error %v", a.RawMatrix().Data, det, sign, err)
		}
	}
}

func BenchmarkSolve(b *testing.B) {
	for _, n := range []int{64, 256, 512} {
		rnd := rand.New(rand.NewPCG(21, 4))
		for _, cols := range []int{1, n} {
			k := revlinalg.Solve[float64]{X: kerneltest.Matrix[float64](rnd, n, cols), A: regular[float64](rnd, n), B: kerneltest.Matrix[float64](rnd, n, cols)}
			g := revlinalg.Solve[float64]{X: kerneltest.Matrix[float64](rnd, n, cols), A: kerneltest.Matrix[float64](rnd, n, n), B: kerneltest.Matrix[float64](rnd, n, cols)}
			flops := 2*n*n*n/3 + 2*n*n*cols
			for _, k.Workers = range []int{1, 2} {
				b.Run(fmt.Sprintf("Forward/n=%d/columns=%d/workers=%d", n, cols, k.Workers), func(b *testing.B) {
					for b.Loop() {
						_ = k.Forward()
					}
					kerneltest.ReportFlops(b, flops)
				})
				b.Run(fmt.Sprintf("Adjoint/n=%d/columns=%d/workers=%d", n, cols, k.Workers), func(b *testing.B) {
					for b.Loop() {
						_ = k.Adjoint(g)
					}
					kerneltest.ReportFlops(b, flops+4*n*n*cols)
				})
			}
			b.Run(fmt.Sprintf("gonum/n=%d/columns=%d", n, cols), func(b *testing.B) {
				a, rhs := mat.NewDense(n, n, k.A.Data), mat.NewDense(n, cols, k.B.Data)
				var x mat.Dense
				for b.Loop() {
					_ = x.Solve(a, rhs)
				}
				kerneltest.ReportFlops(b, flops)
			})
		}
	}
}
