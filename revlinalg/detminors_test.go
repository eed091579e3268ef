package revlinalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func detMinorsSpec[T rev.Real]() revtest.Spec[revlinalg.DetMinors[T]] {
	return revtest.Spec[revlinalg.DetMinors[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.DetMinors[T] {
			a := kerneltest.Matrix[T](rnd, size, size)
			for i := range size {
				a.Row(i)[i] += fixed.Of[T](1)
			}
			return revlinalg.DetMinors[T]{Out: new(T), A: a}
		},
		Sizes:     []int{0, 1, 2, 3, 5, 6},
		RoundTrip: 4, // the sum may be larger than either
	}
}

func TestDetMinors(t *testing.T) {
	kerneltest.Kernels(t, detMinorsSpec[float32](), detMinorsSpec[float64](), detMinorsSpec[fixed.Q43]())
}

// Values and gradients against their definition, in exact arithmetic, and for
// a matrix that is too large for that against elimination.
func TestDetMinorsValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(27, 1))
	for n := range 7 {
		for rank := n; rank >= max(0, n-2); rank-- {
			a := rev.NewGeneral(n, n, kerneltest.Normals[float64](rnd, n*n, 1))
			for i := rank; i < n; i++ {
				clear(a.Row(i))
				if rank > 0 {
					copy(a.Row(i), a.Row(0))
				}
			}
			out, gout := 0., 1.
			ga := rev.NewGeneral[float64](n, n, nil)
			k := revlinalg.DetMinors[float64]{Out: &out, A: a}
			k.Forward()
			if want, _ := bigDet(rowsOf(a)).Float64(); !(math.Abs(out-want) <= 1e-12) {
				t.Errorf("n=%d, rank %d: %v, want %v", n, rank, out, want)
			}
			k.Adjoint(revlinalg.DetMinors[float64]{Out: &gout, A: ga})
			for i := range n {
				for j := range n {
					want, _ := bigCofactor(rowsOf(a), i, j).Float64()
					if got := ga.Row(i)[j]; !(math.Abs(got-want) <= 1e-12) {
						t.Errorf("n=%d, rank %d: cofactor (%d, %d) is %v, want %v", n, rank, i, j, got, want)
					}
				}
			}
		}
	}
	const n = 13
	a := rev.NewGeneral(n, n, kerneltest.Normals[float64](rnd, n*n, 1))
	var out, want float64
	gout := 1.
	ga, gwant := rev.NewGeneral[float64](n, n, nil), rev.NewGeneral[float64](n, n, nil)
	revlinalg.DetMinors[float64]{Out: &out, A: a}.Forward()
	revlinalg.Det[float64]{Out: &want, A: a}.Forward()
	revlinalg.DetMinors[float64]{A: a}.Adjoint(revlinalg.DetMinors[float64]{Out: &gout, A: ga})
	revlinalg.Det[float64]{A: a}.Adjoint(revlinalg.Det[float64]{Out: &gout, A: gwant})
	if !kerneltest.Near(out, want, 1e-10) || !mat.EqualApprox(mat.NewDense(n, n, ga.Data), mat.NewDense(n, n, gwant.Data), 1e-9*math.Abs(want)) {
		t.Errorf("minors give %v, elimination %v", out, want)
	}
}

func BenchmarkDet(b *testing.B) {
	for _, n := range []int{5, 8, 11} {
		rnd := rand.New(rand.NewPCG(27, 2))
		a := rev.NewGeneral(n, n, kerneltest.Normals[float64](rnd, n*n, 1))
		ga := rev.NewGeneral[float64](n, n, nil)
		out, gout := 0., 1.
		minors := revlinalg.DetMinors[float64]{Out: &out, A: a}
		lu := revlinalg.Det[float64]{Out: &out, A: a}
		b.Run(fmt.Sprintf("minors/Forward/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				minors.Forward()
			}
		})
		b.Run(fmt.Sprintf("minors/Adjoint/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				minors.Adjoint(revlinalg.DetMinors[float64]{Out: &gout, A: ga})
			}
		})
		b.Run(fmt.Sprintf("elimination/Forward/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				lu.Forward()
			}
		})
		b.Run(fmt.Sprintf("elimination/Adjoint/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				lu.Adjoint(revlinalg.Det[float64]{Out: &gout, A: ga})
			}
		})
	}
}
