package revlinalg_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func cumSumSpec[T rev.Number](draw func(rnd *rand.Rand, n int) rev.Vector[T]) revtest.Spec[revlinalg.CumSum[T]] {
	return revtest.Spec[revlinalg.CumSum[T]]{New: func(rnd *rand.Rand, n int) revlinalg.CumSum[T] {
		return revlinalg.CumSum[T]{Y: draw(rnd, n), X: draw(rnd, n)}
	}}
}

func TestCumSum(t *testing.T) {
	kerneltest.Kernels(t, cumSumSpec(kerneltest.Vector[float32]), cumSumSpec(kerneltest.Vector[float64]), cumSumSpec(kerneltest.Vector[fixed.Q43]))
	t.Run("complex128", func(t *testing.T) { revtest.Kernel(t, cumSumSpec(kerneltest.Complexes)) })
}

// Sums and reversed sums of integers are exact, and those of other numbers are within the bound.
func TestCumSumValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(31, 2))
	sizes := []int{255, 256, 257, 700} // of pieces of 256
	for n := range 40 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		x, want, back := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = float64(rnd.IntN(2001) - 1000)
		}
		floats.CumSum(want, x)
		for i := range x {
			back[i] = floats.Sum(x[i:])
		}
		for _, inc := range []int{1, 3} {
			y, gx := rev.Vector[float64]{Data: make([]float64, inc*n), N: n, Inc: inc}, rev.Vector[float64]{Data: make([]float64, inc*n), N: n, Inc: inc}
			k := revlinalg.CumSum[float64]{Y: y, X: rev.ViewSlice(x)}
			k.Forward()
			for i := range n {
				if y.Data[i*inc] != want[i] {
					t.Fatalf("sum %d of %v is %v, want %v", i, x, y.Data[i*inc], want[i])
				}
			}
			k.Adjoint(revlinalg.CumSum[float64]{Y: rev.ViewSlice(slices.Clone(x)), X: gx})
			for i := range n {
				if gx.Data[i*inc] != back[i] || y.Data[i*inc] != 0 {
					t.Fatalf("gradient %d of %v is %v, want %v; y is %v", i, x, gx.Data[i*inc], back[i], y.Data[i*inc])
				}
			}
		}
	}
	const n = 5000
	x, y := kerneltest.Vector[float64](rnd, n), rev.ViewSlice(make([]float64, n))
	revlinalg.CumSum[float64]{Y: y, X: x}.Forward()
	sum, magnitudes := new(big.Float).SetPrec(200), 0.0
	for i, v := range x.Data {
		sum.Add(sum, big.NewFloat(v))
		magnitudes += math.Abs(v)
		want, _ := sum.Float64()
		if bound := (float64(i+1)/4 + 3) * 0x1p-53 * magnitudes; math.Abs(y.Data[i]-want) > bound {
			t.Fatalf("sum %d is %v, want %v within %v", i, y.Data[i], want, bound)
		}
	}
}
