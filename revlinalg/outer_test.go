package revlinalg_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func TestOuter(t *testing.T) {
	kerneltest.Kernels(t, revtest.Spec[revlinalg.Outer[float32]]{}, revtest.Spec[revlinalg.Outer[float64]]{}, revtest.Spec[revlinalg.Outer[fixed.Q43]]{})
}

func TestOuterValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(22, 2))
	a, alpha := mat.NewDense(9, 8, kerneltest.Normals[float64](rnd, 72, 1)).Slice(1, 8, 2, 7).(*mat.Dense), 3.0
	x, y := mat.NewVecDense(7, kerneltest.Normals[float64](rnd, 7, 1)), mat.NewVecDense(5, kerneltest.Normals[float64](rnd, 5, 1))
	var want mat.Dense
	want.RankOne(a, alpha, x, y)
	revlinalg.NewOuter(a, &alpha, x, y).Forward()
	if !mat.EqualApprox(a, &want, 1e-14) {
		t.Errorf("got %v, want %v", mat.Formatted(a), mat.Formatted(&want))
	}
}

// Of integers all is exact, so that Inverse restores A. Between the elements of A and x there are NaN.
func TestOuterOfManyRows(t *testing.T) {
	outerOfManyRows[float64](t)
	outerOfManyRows[float32](t)
}

func outerOfManyRows[T rev.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(22, 3))
	integers := func(n, step int) []T {
		v := make([]T, n*step)
		for i := range v {
			v[i] = T(math.NaN())
			if i%step == 0 {
				v[i] = T(rnd.IntN(19) - 9)
			}
		}
		return v
	}
	const n, stride, inc = 5, 8, 3
	for _, m := range []int{1, 128, 129, 300} {
		alpha := T(-3)
		a := rev.General[T]{Rows: m, Cols: n, Stride: stride, Data: integers(m*stride, 1)}
		for i := range m {
			for j := n; j < stride; j++ {
				a.Data[i*stride+j] = T(math.NaN())
			}
		}
		x, y := rev.Vector[T]{N: m, Inc: inc, Data: integers(m, inc)}, rev.Vector[T]{N: n, Inc: 1, Data: integers(n, 1)}
		before := slices.Clone(a.Data)
		check := func(pass string, times T) {
			t.Helper()
			for i, got := range a.Data {
				want := before[i]
				if j := i % stride; j < n {
					want += times * alpha * x.Data[i/stride*inc] * y.Data[j]
				}
				if got != want && !(math.IsNaN(float64(got)) && math.IsNaN(float64(want))) {
					t.Fatalf("%T, m = %d: after %s, element %d, %d is %v, want %v", got, m, pass, i/stride, i%stride, got, want)
				}
			}
		}
		k := revlinalg.Outer[T]{A: a, Alpha: &alpha, X: x, Y: y}
		k.Forward()
		check("Forward", 1)
		k.Inverse()
		check("Inverse", 0)
	}
}

// Of a matrix without columns there is nothing to do.
func TestOuterWithoutColumns(t *testing.T) {
	rnd := rand.New(rand.NewPCG(22, 4))
	for _, m := range []int{0, 1, 129} {
		for _, stride := range []int{0, 1, 4} {
			of := func(alpha float64) revlinalg.Outer[float64] {
				return revlinalg.Outer[float64]{
					A:     rev.General[float64]{Rows: m, Stride: stride, Data: make([]float64, m*stride)},
					Alpha: &alpha, X: kerneltest.Vector[float64](rnd, m), Y: rev.Vector[float64]{Inc: 1, Data: []float64{}},
				}
			}
			k, g := of(2), of(3)
			x := slices.Clone(g.X.Data)
			k.Forward()
			k.Inverse()
			k.Adjoint(g)
			if *g.Alpha != 3 || !slices.Equal(g.X.Data, x) {
				t.Errorf("m = %d, stride %d: cotangents of no elements change others", m, stride)
			}
		}
	}
}
