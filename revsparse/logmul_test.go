package revsparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func randomLogMul[T rev.Float, I Index](rnd *rand.Rand, size int) LogMul[T, I] {
	a := random[T, I](rnd, size, size, 2)
	k := LogMul[T, I]{C: matrixOf[T](rnd, size, min(size, logColumns+1)), A: a, B: matrixOf[T](rnd, size, min(size, logColumns+1))}
	for i := range a.Rows {
		for j := range k.C.Cols {
			// As large as the product, or it would not come back.
			k.C.Data[i*k.C.Stride+j] += T(math.Log(1 + float64(a.Ptr[i+1]-a.Ptr[i])))
		}
	}
	return k
}

func logMulSpec[T rev.Float, I Index]() revtest.Spec[LogMul[T, I]] {
	return revtest.Spec[LogMul[T, I]]{
		New:   randomLogMul[T, I],
		Large: 2000, // several blocks
		// Of LogDot, in whose test it is derived.
		RoundTrip: 4 * 55,
		Masked:    []string{"A", "B"}, // rows and columns without entries
	}
}

func TestLogMul(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, logMulSpec[float64, int32]()) })
	t.Run("float32", func(t *testing.T) { revtest.Kernel(t, logMulSpec[float32, int]()) })
}

// A dense matrix that has -Inf where A has no entry gives the same.
func TestLogMulValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 1))
	k := randomLogMul[float64, int](rnd, 20)
	k.A = unique(k.A.Sorted())
	full := mat.NewDense(20, 20, nil)
	full.Apply(func(_, _ int, _ float64) float64 { return math.Inf(-1) }, full)
	for i := range 20 {
		for p := k.A.Ptr[i]; p < k.A.Ptr[i+1]; p++ {
			full.Set(i, k.A.Ind[p], k.A.Data[p])
		}
	}
	c := mat.NewDense(20, logColumns+1, append([]float64(nil), k.C.Data...))
	revlinalg.NewLogMul(c, full, mat.NewDense(20, logColumns+1, k.B.Data)).Forward()
	k.Forward()
	if got := mat.NewDense(20, logColumns+1, k.C.Data); !mat.EqualApprox(got, c, 1e-13) {
		t.Errorf("got %v, want %v", mat.Formatted(got), mat.Formatted(c))
	}
}

func ExampleLogMul() {
	// A step of a chain that stays where it is or goes on, from its first state.
	half := math.Log(0.5)
	a, _ := NewCSR(2, 2, []int{0, 1, 3}, []int{0, 0, 1}, []float64{half, half, half})
	inf := math.Inf(-1)
	before, after := mat.NewVecDense(2, []float64{0, inf}), mat.NewVecDense(2, []float64{inf, inf})
	NewLogMul(after, a, before).Forward()
	fmt.Printf("%.3f %.3f\n", math.Exp(after.AtVec(0)), math.Exp(after.AtVec(1)))
	// Output: 0.500 0.500
}

// The most work is that of an exponential, and in the adjoint another, for each entry.
func BenchmarkLogMul(b *testing.B) {
	const n, entries = 100_000, 10
	rnd := rand.New(rand.NewPCG(9, 2))
	for _, workers := range []int{1, 2} {
		k := LogMul[float64, int32]{C: matrixOf[float64](rnd, n, 1), A: perRow(rnd, n, entries, 0), B: matrixOf[float64](rnd, n, 1), Workers: workers}
		c := slices.Clone(k.C.Data)
		g := LogMul[float64, int32]{C: matrixOf[float64](rnd, n, 1), A: k.A.With(make([]float64, k.A.NNZ())), B: matrixOf[float64](rnd, n, 1)}
		gc := slices.Clone(g.C.Data)
		bytes := k.A.NNZ()*12 + n*(4+3*8)
		b.Run(fmt.Sprintf("Forward/workers=%d", workers), func(b *testing.B) {
			for b.Loop() {
				copy(k.C.Data, c)
				k.Forward()
			}
			reportBytes(b, bytes)
		})
		copy(k.C.Data, c)
		k.Forward()
		after := slices.Clone(k.C.Data)
		b.Run(fmt.Sprintf("Adjoint/workers=%d", workers), func(b *testing.B) {
			for b.Loop() {
				copy(k.C.Data, after)
				copy(g.C.Data, gc)
				k.Adjoint(g)
			}
			reportBytes(b, bytes+k.A.NNZ()*16+n*(3*8))
		})
	}
}
