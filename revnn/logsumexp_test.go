package revnn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/internal/simd/cpu"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revnn"
)

func logSumExpSpec[T rev.Float]() revtest.Spec[revnn.LogSumExp[T]] {
	return revtest.Spec[revnn.LogSumExp[T]]{
		New: func(rnd *rand.Rand, size int) revnn.LogSumExp[T] {
			return revnn.LogSumExp[T]{Out: new(T), X: rev.ViewSlice(kerneltest.Normals[T](rnd, size, 2))}
		},
		Sizes: []int{1, 2, 3, 5, 6, 12, 23}, // log 0 cannot be subtracted again
		Large: 3*8*chunk + 5,
		Free:  []string{"X.N"},
	}
}

func TestLogSumExp(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, logSumExpSpec[float64]()) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, logSumExpSpec[float32]()) })
}

func TestLogSumExpFixed(t *testing.T) {
	revtest.Kernel(t, revtest.Spec[revnn.LogSumExp[fixed.Q43]]{
		Float64: revtest.PassesOf[revnn.LogSumExp[float64]](),
		New: func(rnd *rand.Rand, size int) revnn.LogSumExp[fixed.Q43] {
			return revnn.LogSumExp[fixed.Q43]{Out: new(fixed.Q43), X: kerneltest.Vector[fixed.Q43](rnd, size)}
		},
		Sizes: []int{0, 1, 2, 3, 5, 6, 12, 23, 300},
		Large: 3000,
		Free:  []string{"X.N"},
	})
}

func TestLogSumExpFixedValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(10, 1))
	for _, n := range []int{1, 2, 10, 1000} {
		for _, shift := range []float64{0, 1e5, -1e5} {
			x := make([]fixed.Q43, n)
			wide := make([]float64, n)
			for i := range x {
				x[i] = fixed.FromFloat64(shift + 5*rnd.NormFloat64())
				wide[i] = x[i].Float64() - shift // exact
			}
			var out fixed.Q43
			k := revnn.LogSumExp[fixed.Q43]{Out: &out, X: rev.ViewSlice(x)}
			k.Forward()
			got := (out - fixed.FromFloat64(shift)).Float64()
			if want := floats.LogSumExp(wide); !(math.Abs(got-want) <= float64(2+n)*0x1p-43) {
				t.Errorf("n=%d, shift %v: got %v, want %v", n, shift, got, want)
			}
		}
	}
	for _, test := range []struct {
		x    []fixed.Q43
		want fixed.Q43
	}{
		{nil, fixed.Min},
		{[]fixed.Q43{fixed.Min}, fixed.Min},
		{[]fixed.Q43{fixed.Min, fixed.Max}, fixed.Max},
		{[]fixed.Q43{0, 0}, fixed.Ln2},
	} {
		var out fixed.Q43
		revnn.LogSumExp[fixed.Q43]{Out: &out, X: rev.ViewSlice(test.x)}.Forward()
		if out != test.want {
			t.Errorf("%v: got %v, want %v", test.x, out, test.want)
		}
	}
}

// Several chunks and several parts go through the same checks.
func TestLogSumExpLong(t *testing.T) {
	spec := logSumExpSpec[float64]()
	spec.Sizes = []int{chunk + 1, 20*chunk + 3, chunk, 8*chunk - 1, 8*chunk + 1}[:long.Or(5, 2)]
	revtest.Kernel(t, spec)
}

func TestLogSumExpValue(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, test := range []struct {
		x        []float64
		want     float64
		gradient []float64 // for Ōut = 1, nil if it is that of the formula
	}{
		{nil, -inf, nil},
		{[]float64{-inf}, -inf, []float64{nan}},
		{[]float64{-inf, -inf}, -inf, []float64{nan, nan}},
		{[]float64{inf}, inf, []float64{nan}},
		{[]float64{inf, -inf, 3}, inf, []float64{nan, 0, 0}},
		{[]float64{inf, inf}, inf, []float64{nan, nan}},
		{[]float64{1, nan, 2}, nan, []float64{nan, nan, nan}},
		{[]float64{nan, inf}, nan, []float64{nan, nan}},
		{[]float64{5}, 5, []float64{1}},
		{[]float64{-inf, 5}, 5, []float64{0, 1}},
		{[]float64{1000, 1000}, 1000 + math.Ln2, []float64{0.5, 0.5}},
		{[]float64{-1e5, -1e5}, -1e5 + math.Ln2, []float64{0.5, 0.5}},
		{[]float64{math.MaxFloat64, -math.MaxFloat64}, math.MaxFloat64, []float64{1, 0}},
	} {
		out, gout := 0.0, 1.0
		gx := make([]float64, len(test.x))
		k := revnn.LogSumExp[float64]{Out: &out, X: rev.ViewSlice(test.x)}
		k.Forward()
		if !kerneltest.Near(out, test.want, 1e-15) {
			t.Errorf("%v: got %v, want %v", test.x, out, test.want)
		}
		k.Adjoint(revnn.LogSumExp[float64]{Out: &gout, X: rev.ViewSlice(gx)})
		for i, want := range test.gradient {
			if !kerneltest.Near(gx[i], want, 1e-15) {
				t.Errorf("%v: gradient %v, want %v", test.x, gx, test.gradient)
				break
			}
		}
	}
}

// An infinity or a NaN is found in whichever chunk it is.
func TestLogSumExpSpecialInLaterChunk(t *testing.T) {
	for _, at := range []int{0, chunk + 7, 9 * chunk} {
		for _, v := range []float64{math.Inf(1), math.NaN()} {
			x := make([]float64, 10*chunk)
			x[at] = v
			out := 0.0
			revnn.LogSumExp[float64]{Out: &out, X: rev.ViewSlice(x)}.Forward()
			if !kerneltest.Near(out, v, 0) {
				t.Errorf("%v at %d: got %v", v, at, out)
			}
		}
	}
}

func TestLogSumExpAgainstGonum(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 3))
	for _, n := range []int{1, 10, 1000, 5000, 100_000} {
		for _, scale := range []float64{0.1, 10, 300} {
			x := kerneltest.Normals[float64](rnd, n, scale)
			out, gout := 0.0, 1.0
			gx := make([]float64, n)
			k := revnn.LogSumExp[float64]{Out: &out, X: rev.ViewSlice(x)}
			k.Forward()
			if want := floats.LogSumExp(x); !kerneltest.Near(out, want, 1e-13) {
				t.Errorf("n=%d scale=%v: got %v, want %v", n, scale, out, want)
			}
			k.Adjoint(revnn.LogSumExp[float64]{Out: &gout, X: rev.ViewSlice(gx)})
			if s := floats.Sum(gx); !kerneltest.Near(s, 1, 1e-12) {
				t.Errorf("n=%d scale=%v: softmax sums to %v", n, scale, s)
			}
			want := math.Exp(x[n/2] - floats.LogSumExp(x))
			if !kerneltest.Near(gx[n/2], want, 1e-12) {
				t.Errorf("n=%d scale=%v: softmax %v, want %v", n, scale, gx[n/2], want)
			}
		}
	}
}

func BenchmarkLogSumExp(b *testing.B) {
	for _, n := range []int{2500, 80_000, 1_280_000} {
		rnd := rand.New(rand.NewPCG(1, 4))
		x, gx := kerneltest.Normals[float64](rnd, n, 1), make([]float64, n)
		out, gout := 0.0, 1.0
		for _, workers := range []int{1, 2} {
			k := revnn.LogSumExp[float64]{Out: &out, X: rev.ViewSlice(x), Workers: workers}
			g := revnn.LogSumExp[float64]{Out: &gout, X: rev.ViewSlice(gx)}
			b.Run(fmt.Sprintf("Forward/n=%d/workers=%d", n, workers), func(b *testing.B) {
				for b.Loop() {
					k.Forward()
				}
				kerneltest.ReportBytes(b, 8*n)
				if cpu.InUse() == cpu.AVX512 {
					// For 8 elements: 17 operations on vectors for the exponentials, of which
					// one is two to the processor, 2 for difference and sum, 1.5 for the maximum.
					const perElement = 21.5 / 8
					peak := kerneltest.PeakFlops() / 16 // operations on vectors
					rate := perElement * float64(n) * float64(b.N) / b.Elapsed().Seconds()
					b.ReportMetric(100*rate/peak, "%vector")
				}
			})
			b.Run(fmt.Sprintf("Adjoint/n=%d/workers=%d", n, workers), func(b *testing.B) {
				for b.Loop() {
					k.Adjoint(g)
				}
				kerneltest.ReportBytes(b, 32*n) // x twice, gx read and written
			})
		}
	}
}
