package revsparse_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revsparse"
)

func randomSampledMul[T rev.Real, I revsparse.Index](rnd *rand.Rand, size, inner int) revsparse.SampledMul[T, I] {
	s := random[T, I](rnd, size, size+1, 3)
	return revsparse.SampledMul[T, I]{S: s, A: matrixOf[T](rnd, s.Rows, inner), B: matrixOf[T](rnd, s.Cols, inner)}
}

func sampledMulSpec[T rev.Real, I revsparse.Index](inner int) revtest.Spec[revsparse.SampledMul[T, I]] {
	return revtest.Spec[revsparse.SampledMul[T, I]]{
		Float64: revtest.PassesOf[revsparse.SampledMul[float64, I]](),
		New: func(rnd *rand.Rand, size int) revsparse.SampledMul[T, I] {
			return randomSampledMul[T, I](rnd, size, min(size, inner))
		},
		RoundTrip: 16,
		Masked:    []string{"A", "B"}, // not all rows meet an entry
	}
}

func TestSampledMul(t *testing.T) {
	for _, inner := range []int{1, 5} {
		t.Run(fmt.Sprint("float64 ", inner), func(t *testing.T) { revtest.Kernel(t, sampledMulSpec[float64, int32](inner)) })
		t.Run(fmt.Sprint("float32 ", inner), func(t *testing.T) { kerneltest.Kernel[float32](t, sampledMulSpec[float32, int](inner)) })
		t.Run(fmt.Sprint("Q43 ", inner), func(t *testing.T) { kerneltest.Kernel[fixed.Q43](t, sampledMulSpec[fixed.Q43, int32](inner)) })
	}
}

func TestSampledMulValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 1))
	for _, inner := range []int{1, 3, 150} {
		k := randomSampledMul[float64, int](rnd, 40, inner)
		var want mat.Dense
		want.Mul(mat.NewDense(40, inner, k.A.Data), mat.NewDense(41, inner, k.B.Data).T())
		before := append([]float64(nil), k.S.Data...)
		k.Forward()
		for i := range k.S.Rows {
			for p := k.S.Ptr[i]; p < k.S.Ptr[i+1]; p++ {
				if got := k.S.Data[p] - before[p]; math.Abs(got-want.At(i, k.S.Ind[p])) > 1e-11 {
					t.Fatalf("%d products: entry %d is %v, want %v", inner, p, got, want.At(i, k.S.Ind[p]))
				}
			}
		}
	}
}

func BenchmarkSampledMul(b *testing.B) {
	rnd := rand.New(rand.NewPCG(6, 2))
	const n = 1000
	for _, inner := range []int{16, 64} {
		k := revsparse.SampledMul[float64, int32]{S: perRow(rnd, n, 50, 0), A: matrixOf[float64](rnd, n, inner), B: matrixOf[float64](rnd, n, inner), Workers: 1}
		g := revsparse.SampledMul[float64, int32]{
			S: k.S.With(numbers[float64](rnd, k.S.NNZ())),
			A: matrixOf[float64](rnd, n, inner), B: matrixOf[float64](rnd, n, inner),
		}
		flops := 2 * inner * k.S.NNZ()
		b.Run(fmt.Sprintf("Forward/%d columns", inner), func(b *testing.B) {
			for b.Loop() {
				k.Forward()
			}
			kerneltest.ReportFlops(b, flops)
		})
		b.Run(fmt.Sprintf("Adjoint/%d columns", inner), func(b *testing.B) {
			for b.Loop() {
				k.Adjoint(g)
			}
			kerneltest.ReportFlops(b, 3*flops)
		})
	}
}

// TestOutputWithoutStructure has outputs whose structure is absent, or of another shape. A
// gradient would be zero without a word.
func TestOutputWithoutStructure(t *testing.T) {
	dense := rev.NewGeneral(2, 2, []float64{1, 2, 3, 4})
	a := revsparse.CSR[float64, int]{Rows: 2, Cols: 2, Ptr: []int{0, 1, 2}, Ind: []int{0, 1}, Data: []float64{1, 2}}
	other := revsparse.CSR[float64, int]{Rows: 3, Cols: 2, Ptr: []int{0, 1, 2, 2}, Ind: []int{0, 1}}
	grad := []float64{1, 1}
	for i, s := range []revsparse.CSR[float64, int]{{}, {Rows: 2, Cols: 2}, other} {
		for name, pass := range map[string]func(){
			"SampledMul Forward": func() { revsparse.SampledMul[float64, int]{S: s, A: dense, B: dense}.Forward() },
			"SampledMul Adjoint": func() {
				revsparse.SampledMul[float64, int]{S: s, A: dense, B: dense}.Adjoint(revsparse.SampledMul[float64, int]{S: a.With(grad), A: rev.NewGeneral[float64](2, 2, nil)})
			},
			"SampledMul Tangent": func() {
				revsparse.SampledMul[float64, int]{S: s, A: dense, B: dense}.Tangent(revsparse.SampledMul[float64, int]{S: a.With(grad), A: rev.NewGeneral[float64](2, 2, nil)})
			},
			"SpGEMM Forward": func() { revsparse.SpGEMM[float64, int]{C: s, A: a, B: a}.Forward() },
			"SpGEMM Adjoint": func() {
				revsparse.SpGEMM[float64, int]{C: s, A: a, B: a}.Adjoint(revsparse.SpGEMM[float64, int]{C: a.With(grad), A: a.With([]float64{0, 0})})
			},
			"SpGEMM Tangent": func() {
				revsparse.SpGEMM[float64, int]{C: s, A: a, B: a}.Tangent(revsparse.SpGEMM[float64, int]{C: a.With(grad), A: a.With([]float64{0, 0})})
			},
		} {
			func() {
				defer func() {
					var wrong *rev.OperandError
					if err, ok := recover().(error); !ok || !errors.As(err, &wrong) || !errors.Is(err, mat.ErrShape) {
						t.Errorf("%s with structure %d: panics with %v", name, i, err)
					}
				}()
				pass()
			}()
		}
	}
}
