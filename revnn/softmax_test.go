package revnn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revnn"
)

func softmaxSpec[T rev.Real]() revtest.Spec[revnn.Softmax[T]] {
	return revtest.Spec[revnn.Softmax[T]]{
		New: func(rnd *rand.Rand, size int) revnn.Softmax[T] {
			return revnn.Softmax[T]{Y: kerneltest.Vector[T](rnd, size), X: kerneltest.Vector[T](rnd, size)}
		},
		Large: 20_000, // several pieces, and parts for workers
	}
}

func TestSoftmax(t *testing.T) {
	kerneltest.Kernels(t, softmaxSpec[float32](), softmaxSpec[float64](), softmaxSpec[fixed.Q43]())
}

// More elements than one piece has, in all methods.
func TestSoftmaxPieces(t *testing.T) {
	s32, s64, sQ := softmaxSpec[float32](), softmaxSpec[float64](), softmaxSpec[fixed.Q43]()
	sizes := []int{256, 600}
	s32.Sizes, s64.Sizes, sQ.Sizes = sizes, sizes, sizes
	kerneltest.Kernels(t, s32, s64, sQ)
}

func TestSoftmaxValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 1))
	for _, shift := range []float64{0, 1000, -1000} {
		const n = 300
		x, want := kerneltest.Normals[float64](rnd, n, 5), make([]float64, n)
		floats.AddConst(shift, x)
		lse := floats.LogSumExp(x)
		for i, v := range x {
			want[i] = math.Exp(v - lse)
		}
		y := make([]float64, n)
		revnn.NewSoftmax(mat.NewVecDense(n, y), mat.NewVecDense(n, x)).Forward()
		q, qx := make([]fixed.Q43, n), make([]fixed.Q43, n)
		for i, v := range x {
			qx[i] = fixed.FromFloat64(v)
		}
		revnn.Softmax[fixed.Q43]{Y: rev.ViewSlice(q), X: rev.ViewSlice(qx)}.Forward()
		for i, w := range want {
			if !(math.Abs(y[i]-w) <= 1e-12*w) || !(math.Abs(q[i].Float64()-w) <= 1e-12) {
				t.Errorf("shift %v: element %d is %v and %v, want %v", shift, i, y[i], q[i], w)
			}
		}
	}
}

// TestSoftmaxBound has an element more than equal ones, so that rounding adds up. What is left after the
// rounding of x_i - m is within a few units in the last place, also in a row of SoftmaxRows.
func TestSoftmaxBound(t *testing.T) {
	for _, n := range []int{127, 128, 1000, 1024, 4096} {
		for _, v := range []float32{-0.3, -0.4913, -0.6624, -0.9} {
			x := make([]float32, n)
			for i := range x[1:] {
				x[1+i] = v
			}
			e := math.Exp(float64(v))
			sum := 1 + float64(n-1)*e
			y, rows := make([]float32, n), make([]float32, n)
			revnn.Softmax[float32]{Y: rev.ViewSlice(y), X: rev.ViewSlice(x)}.Forward()
			revnn.SoftmaxRows[float32]{Y: rev.NewGeneral(1, n, rows), X: rev.NewGeneral(1, n, x)}.Forward()
			for _, got := range [][]float32{y, rows} {
				for i, want := range []float64{1 / sum, e / sum} {
					if d := math.Abs(float64(got[i]) - want); d > 4*0x1p-23*want {
						t.Errorf("n = %d, others %v: element %d is %v, want %v", n, v, i, got[i], want)
					}
				}
			}
		}
	}
}

func TestSoftmaxFixedExtremes(t *testing.T) {
	x := []fixed.Q43{fixed.Max, fixed.Min, fixed.Max, 0}
	y := make([]fixed.Q43, len(x))
	revnn.Softmax[fixed.Q43]{Y: rev.ViewSlice(y), X: rev.ViewSlice(x)}.Forward()
	if half := fixed.One / 2; y[0] != half || y[1] != 0 || y[2] != half || y[3] != 0 {
		t.Errorf("got %v, want [0.5 0 0.5 0]", y)
	}
}

func BenchmarkSoftmax(b *testing.B) {
	rnd := rand.New(rand.NewPCG(8, 2))
	for _, n := range []int{4096, 1_000_000} {
		benchSoftmax(b, fmt.Sprintf("float64/n=%d", n), softmaxSpec[float64]().New(rnd, n), softmaxSpec[float64]().New(rnd, n))
	}
	benchSoftmax(b, "Q43/n=4096", softmaxSpec[fixed.Q43]().New(rnd, 4096), softmaxSpec[fixed.Q43]().New(rnd, 4096))
}

func benchSoftmax[T rev.Real](b *testing.B, name string, k, g revnn.Softmax[T]) {
	for _, k.Workers = range []int{1, 2} {
		for _, m := range []struct {
			name string
			call func()
		}{{"Forward", k.Forward}, {"Adjoint", func() { k.Adjoint(g) }}} {
			b.Run(fmt.Sprintf("%s/%s/workers=%d", name, m.name, k.Workers), func(b *testing.B) {
				for b.Loop() {
					m.call()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*k.X.N), "ns/element")
			})
		}
	}
}
