package revsparse_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revsparse"
)

// triMatrix returns a random n×n matrix with entries on both sides of the
// diagonal, unsorted, some of them twice, and a diagonal that keeps both triangles
// well conditioned.
func triMatrix[T rev.Float, I revsparse.Index](rnd *rand.Rand, n int) revsparse.CSR[T, I] {
	a := revsparse.CSR[T, I]{Rows: n, Cols: n, Ptr: []I{0}}
	for i := range n {
		place := rnd.IntN(4)
		for range 3 {
			a.Ind = append(a.Ind, I(rnd.IntN(n)))
			a.Data = append(a.Data, T(rnd.NormFloat64()/4))
			if place == 0 {
				a.Ind, a.Data = append(a.Ind, I(i)), append(a.Data, T(4+rnd.Float64()))
			}
			place--
		}
		if place >= 0 {
			a.Ind, a.Data = append(a.Ind, I(i)), append(a.Data, T(-4-rnd.Float64()))
		}
		a.Ptr = append(a.Ptr, I(len(a.Ind)))
	}
	return a
}

func randomVector[T rev.Float](rnd *rand.Rand, n int) rev.Vector[T] {
	x := make([]T, n)
	for i := range x {
		x[i] = T(rnd.NormFloat64())
	}
	return rev.ViewSlice(x)
}

func triSpec[T rev.Float, I revsparse.Index](upper, trans, unit bool) revtest.Spec[revsparse.TriSolve[T, I]] {
	spec := revtest.Spec[revsparse.TriSolve[T, I]]{
		New: func(rnd *rand.Rand, n int) revsparse.TriSolve[T, I] {
			return revsparse.TriSolve[T, I]{
				X: randomVector[T](rnd, n), A: triMatrix[T, I](rnd, n), B: randomVector[T](rnd, n),
				Upper: upper, Trans: trans, Unit: unit,
			}
		},
		Masked: []string{"A"}, // what is on the other side
	}
	if !unit {
		spec.Failing = func(rnd *rand.Rand, n int) revsparse.TriSolve[T, I] {
			k := spec.New(rnd, n+1)
			for p := k.A.Ptr[n/2]; p < k.A.Ptr[n/2+1]; p++ {
				k.A.Data[p] = 0
			}
			return k
		}
	}
	return spec
}

func TestTriSolve(t *testing.T) {
	for _, c := range []struct{ upper, trans, unit bool }{
		{false, false, false}, {true, false, false}, {false, true, false}, {true, true, false}, {false, false, true}, {true, true, true},
	} {
		t.Run(fmt.Sprintf("upper=%t,trans=%t,unit=%t", c.upper, c.trans, c.unit), func(t *testing.T) {
			t.Run("float64", func(t *testing.T) { revtest.Kernel(t, triSpec[float64, int](c.upper, c.trans, c.unit)) })
			t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, triSpec[float32, int32](c.upper, c.trans, c.unit)) })
		})
	}
}

// Against gonum's triangular solver.
func TestTriSolveDense(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 1))
	const n = 40
	for _, trans := range []bool{false, true} {
		for _, upper := range []bool{false, true} {
			a := triMatrix[float64, int](rnd, n)
			b, x := randomVector[float64](rnd, n), make([]float64, n)
			d := mat.NewDense(n, n, revsparse.Dense(a).Data)
			for i := range n {
				for j := range n {
					if upper && j < i || !upper && j > i {
						d.Set(i, j, 0)
					}
				}
			}
			var op mat.Matrix = d
			if trans {
				op = d.T()
			}
			var want mat.VecDense
			if err := want.SolveVec(op, mat.NewVecDense(n, b.Data)); err != nil {
				t.Fatal(err)
			}
			if err := (revsparse.TriSolve[float64, int]{X: rev.ViewSlice(x), A: a, B: b, Upper: upper, Trans: trans}).Forward(); err != nil {
				t.Fatal(err)
			}
			for i, v := range x {
				if w := want.AtVec(i); !(math.Abs(v-w) <= 1e-13*mat.Norm(&want, 2)) {
					t.Errorf("upper=%t trans=%t: x_%d = %v, want %v", upper, trans, i, v, w)
				}
			}
		}
	}
}

// A row without a diagonal, and one whose entries there cancel.
func TestTriSolveSingular(t *testing.T) {
	x, b := make([]float64, 3), []float64{1, 2, 3}
	for _, a := range []revsparse.CSR[float64, int]{
		{Rows: 3, Cols: 3, Ptr: []int{0, 1, 2, 3}, Ind: []int{0, 0, 2}, Data: []float64{1, 2, 3}},
		{Rows: 3, Cols: 3, Ptr: []int{0, 1, 3, 4}, Ind: []int{0, 1, 1, 2}, Data: []float64{1, 2, -2, 3}},
	} {
		k := revsparse.TriSolve[float64, int]{X: rev.ViewSlice(x), A: a, B: rev.ViewSlice(b)}
		var singular *rev.SingularError
		if err := k.Forward(); !errors.As(err, &singular) || singular.Index != 1 {
			t.Errorf("error %v, want that of row 1", err)
		}
		k.Unit = true
		if err := k.Forward(); err != nil {
			t.Errorf("with a unit diagonal: error %v", err)
		}
	}
}

func BenchmarkTriSolve(b *testing.B) {
	const n, entries = 1_000_000, 10
	rnd := rand.New(rand.NewPCG(5, 6))
	a := perRow(rnd, n, entries, 2*entries)
	for i := range n {
		a.Ind[i*entries], a.Data[i*entries] = int32(i), 20
	}
	k := revsparse.TriSolve[float64, int32]{X: randomVector[float64](rnd, n), A: a, B: randomVector[float64](rnd, n)}
	g := revsparse.TriSolve[float64, int32]{X: randomVector[float64](rnd, n), A: a.With(make([]float64, a.NNZ())), B: randomVector[float64](rnd, n)}
	for _, r := range []struct {
		name  string
		call  func() error
		reads int // of the matrix
	}{{"Forward", k.Forward, 2}, {"Adjoint", func() error { return k.Adjoint(g) }, 4}} {
		b.Run(r.name, func(b *testing.B) {
			for b.Loop() {
				if err := r.call(); err != nil {
					b.Fatal(err)
				}
			}
			kerneltest.ReportBytes(b, r.reads*12*a.NNZ())
		})
	}
}
