package revlinalg_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// triangular returns a matrix of which both triangles have small condition
// numbers, with a diagonal of 1 or without.
func triangular[T rev.Float](rnd *rand.Rand, n int) rev.General[T] {
	a := rev.NewGeneral(n, n, kerneltest.Normals[T](rnd, n*n, 1/float64(n+1)))
	for i := range n {
		a.Row(i)[i] = T(1+rnd.Float64()) * T(1-2*rnd.IntN(2))
	}
	return a
}

func triSolveSpec[T rev.Float](upper, trans, unit bool) revtest.Spec[revlinalg.TriSolve[T]] {
	return revtest.Spec[revlinalg.TriSolve[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.TriSolve[T] {
			cols := 1 + size%4
			return revlinalg.TriSolve[T]{
				X: kerneltest.Matrix[T](rnd, size, cols), A: triangular[T](rnd, size), B: kerneltest.Matrix[T](rnd, size, cols),
				Upper: upper, TransA: trans, Unit: unit,
			}
		},
		Large:     150,
		RoundTrip: 4,
		Free:      []string{"B.Cols"},
		Masked:    []string{"A"}, // its other triangle is not read
	}
}

func TestTriSolve(t *testing.T) {
	for i := range 8 {
		upper, trans, unit := i&1 != 0, i&2 != 0, i&4 != 0
		t.Run(fmt.Sprintf("upper=%t/trans=%t/unit=%t", upper, trans, unit), func(t *testing.T) {
			spec := triSolveSpec[float64](upper, trans, unit)
			spec.Sizes = []int{0, 1, 2, 5, 49}
			some := !long.Tests() && (upper == trans || upper != unit)
			if some {
				spec.Sizes = spec.Sizes[:4] // the other two have each choice both ways
			}
			if !unit {
				spec.Failing = func(rnd *rand.Rand, size int) revlinalg.TriSolve[float64] {
					k := triSolveSpec[float64](upper, trans, unit).New(rnd, size+1)
					k.A.Row(size / 2)[size/2] = 0
					return k
				}
			}
			revtest.Kernel(t, spec)
			if some {
				return
			}
			spec.Sizes, spec.Skip = []int{solveRows + 3}, map[revtest.Property]string{}
			for _, p := range []revtest.Property{revtest.Shapes, revtest.Extremes} {
				spec.Skip[p] = "tested at small sizes"
			}
			t.Run("blocks", func(t *testing.T) { revtest.Kernel(t, spec) })
		})
	}
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, triSolveSpec[float32](true, false, false)) })
}

func TestTriSolveValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(22, 1))
	for _, n := range []int{1, 7, 33, 150} {
		for _, kind := range []mat.TriKind{mat.Lower, mat.Upper} {
			a := mat.NewTriDense(n, kind, triangular[float64](rnd, n).Data)
			b := mat.NewDense(n, 50, kerneltest.Normals[float64](rnd, n*50, 1))
			for _, trans := range []bool{false, true} {
				var want mat.Dense
				var m mat.Matrix = a
				if trans {
					m = a.T()
				}
				if err := want.Solve(m, b); err != nil {
					t.Fatal(err)
				}
				got := mat.NewDense(n, 50, nil)
				k := revlinalg.NewTriSolve(got, a, b)
				if trans {
					k = revlinalg.NewTriSolve(got, a.TTri(), b)
				}
				if err := k.Forward(); err != nil {
					t.Fatal(err)
				}
				if !mat.EqualApprox(got, &want, 1e-12) {
					t.Errorf("n=%d, upper %v, transposed %v: not gonum's solution", n, kind, trans)
				}
			}
		}
	}
}

// Diagonals whose reciprocals overflow divide all the same.
func TestTriSolveScale(t *testing.T) {
	const tiny = 0x1p-1060
	x := mat.NewDense(2, 1, nil)
	a := mat.NewTriDense(2, mat.Lower, []float64{tiny, 0, tiny, 4})
	if err := revlinalg.NewTriSolve(x, a, mat.NewDense(2, 1, []float64{3 * tiny, 8 + 3*tiny})).Forward(); err != nil {
		t.Fatal(err)
	}
	if x.At(0, 0) != 3 || x.At(1, 0) != 2 {
		t.Errorf("got %v, want 3 and 2", x.RawMatrix().Data)
	}
}

func TestTriSolveSingular(t *testing.T) {
	a := rev.NewGeneral(2, 2, []float64{1, 0, 5, 0})
	b := rev.NewGeneral(2, 1, []float64{1, 1})
	var c mat.Condition
	if err := (revlinalg.TriSolve[float64]{A: a, B: b}).Forward(); !errors.As(err, &c) || !math.IsInf(float64(c), 1) {
		t.Errorf("error %v, want an infinite condition number", err)
	}
	if err := (revlinalg.TriSolve[float64]{A: a, B: b, Unit: true}).Forward(); err != nil {
		t.Errorf("error %v though the diagonal is not read", err)
	}
}

func BenchmarkTriSolve(b *testing.B) {
	for _, n := range []int{64, 256, 512} {
		rnd := rand.New(rand.NewPCG(22, 2))
		k := revlinalg.TriSolve[float64]{X: kerneltest.Matrix[float64](rnd, n, n), A: triangular[float64](rnd, n), B: kerneltest.Matrix[float64](rnd, n, n)}
		g := revlinalg.TriSolve[float64]{X: kerneltest.Matrix[float64](rnd, n, n), A: kerneltest.Matrix[float64](rnd, n, n), B: kerneltest.Matrix[float64](rnd, n, n)}
		for _, k.Workers = range []int{1, 2} {
			b.Run(fmt.Sprintf("Forward/n=%d/workers=%d", n, k.Workers), func(b *testing.B) {
				for b.Loop() {
					_ = k.Forward()
				}
				kerneltest.ReportFlops(b, n*n*n)
			})
			b.Run(fmt.Sprintf("Adjoint/n=%d/workers=%d", n, k.Workers), func(b *testing.B) {
				for b.Loop() {
					_ = k.Adjoint(g)
				}
				kerneltest.ReportFlops(b, 4*n*n*n)
			})
		}
	}
}
