package revlinalg_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func invSpec[T rev.Float]() revtest.Spec[revlinalg.Inv[T]] {
	return revtest.Spec[revlinalg.Inv[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.Inv[T] {
			return revlinalg.Inv[T]{B: kerneltest.Matrix[T](rnd, size, size), A: regular[T](rnd, size)}
		},
		Large:     150,
		RoundTrip: 4, // the sum may be larger than either
		Failing: func(rnd *rand.Rand, size int) revlinalg.Inv[T] {
			return revlinalg.Inv[T]{B: kerneltest.Matrix[T](rnd, size+1, size+1), A: deficient[T](rnd, size+1)}
		},
	}
}

func TestInv(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, invSpec[float64]()) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, invSpec[float32]()) })
}

func TestInvValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(23, 1))
	for _, n := range []int{1, 7, 33, 150} {
		a := mat.NewDense(n, n, kerneltest.Normals[float64](rnd, n*n, 1))
		var want mat.Dense
		if err := want.Inverse(a); err != nil {
			t.Fatal(err)
		}
		got := mat.NewDense(n, n, nil)
		if err := revlinalg.NewInv(got, a).Forward(); err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(got, &want, 1e-10) {
			t.Errorf("n=%d: not gonum's inverse", n)
		}
	}
}

func BenchmarkInv(b *testing.B) {
	for _, n := range []int{64, 512} {
		rnd := rand.New(rand.NewPCG(23, 2))
		k := revlinalg.Inv[float64]{B: kerneltest.Matrix[float64](rnd, n, n), A: regular[float64](rnd, n)}
		g := revlinalg.Inv[float64]{B: kerneltest.Matrix[float64](rnd, n, n), A: kerneltest.Matrix[float64](rnd, n, n)}
		for _, k.Workers = range []int{1, 2} {
			b.Run(fmt.Sprintf("Forward/n=%d/workers=%d", n, k.Workers), func(b *testing.B) {
				for b.Loop() {
					_ = k.Forward()
				}
				kerneltest.ReportFlops(b, 2*n*n*n)
			})
			b.Run(fmt.Sprintf("Adjoint/n=%d/workers=%d", n, k.Workers), func(b *testing.B) {
				for b.Loop() {
					_ = k.Adjoint(g)
				}
				kerneltest.ReportFlops(b, 6*n*n*n)
			})
		}
	}
}
