package revlog_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/internal/logstep/logtest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlog"
)

func TestDot(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, dotSpec[float64]()) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, dotSpec[float32]()) })
}

func dotSpec[T rev.Float]() revtest.Spec[revlog.Dot[T]] {
	return revtest.Spec[revlog.Dot[T]]{
		New: func(rnd *rand.Rand, size int) revlog.Dot[T] {
			out := logOutput[T](rnd, size)
			return revlog.Dot[T]{
				Out: &out,
				X:   rev.ViewSlice(randomLogs[T](rnd, size, 0.7)),
				Y:   rev.ViewSlice(randomLogs[T](rnd, size, 0.7)),
			}
		},
		Large:     3*chunk + 5,
		RoundTrip: logRoundTrip,
	}
}

// Several chunks go through the same checks.
func TestDotLong(t *testing.T) {
	spec := dotSpec[float64]()
	spec.Sizes = []int{chunk, 2*chunk + 1}
	revtest.Kernel(t, spec)
}

func TestDotBound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	for range 300 {
		n := 1 + rnd.IntN(2*chunk)
		scale := math.Pow(10, float64(rnd.IntN(8)-2))
		x, y := randomLogs[float64](rnd, n, scale), randomLogs[float64](rnd, n, scale)
		if rnd.IntN(2) == 0 { // large factors with small products
			for i := range x {
				y[i] = rnd.NormFloat64() - x[i]
			}
		}
		terms := make([]*big.Float, n)
		for i := range x {
			terms[i] = logtest.Exact(x[i], y[i])
		}
		out := math.Inf(-1)
		revlog.Dot[float64]{Out: &out, X: rev.ViewSlice(x), Y: rev.ViewSlice(y)}.Forward()
		m, rest := logtest.Sum(terms)
		bound := (float64(n) + 4 + 3*math.Abs(out) + math.Log(float64(n))) * 0x1p-53
		if e := logtest.Error(out, m, rest); !(math.Abs(e) <= bound+0x1p-51) {
			t.Fatalf("n=%d, scale %v: log %v has error %.3g, want at most %.3g", n, scale, out, e, bound)
		}
	}
}

func TestDotValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, test := range []struct {
		out  float64
		x, y []float64
		want float64
		gx   []float64 // for Ōut = 1
	}{
		{-inf, []float64{-inf, -inf}, []float64{1, -inf}, -inf, []float64{0, 0}},
		{2, []float64{-inf}, []float64{1}, 2, []float64{0}},
		{-inf, []float64{1e308}, []float64{1e308}, inf, []float64{nan}},
		{-inf, []float64{1e308, 3}, []float64{-1e308, 3}, 6 + math.Log1p(math.Exp(-6)), []float64{1 / (1 + math.Exp(6)), 1 / (1 + math.Exp(-6))}},
		{-inf, []float64{inf, 0}, []float64{1, 1}, inf, []float64{nan, 0}},
		{-inf, []float64{inf, 0}, []float64{-inf, 1}, nan, []float64{nan, nan}},
		{-inf, []float64{nan, 0}, []float64{-inf, 1}, nan, []float64{nan, nan}},
		{inf, []float64{0}, []float64{0}, inf, []float64{0}},
	} {
		out, gout := test.out, 1.0
		gx := make([]float64, len(test.x))
		k := revlog.Dot[float64]{Out: &out, X: rev.ViewSlice(test.x), Y: rev.ViewSlice(test.y)}
		k.Forward()
		if !kerneltest.Near(out, test.want, 1e-15) {
			t.Errorf("%v, %v: got %v, want %v", test.x, test.y, out, test.want)
		}
		k.Adjoint(revlog.Dot[float64]{Out: &gout, X: rev.ViewSlice(gx)})
		for i, want := range test.gx {
			if !kerneltest.Near(gx[i], want, 1e-15) {
				t.Errorf("%v, %v: gradient %v, want %v", test.x, test.y, gx, test.gx)
				break
			}
		}
	}
}

func BenchmarkDot(b *testing.B) {
	const n = 1 << 16
	rnd := rand.New(rand.NewPCG(3, 2))
	x, y := mat.NewVecDense(n, randomLogs[float64](rnd, n, 3)), mat.NewVecDense(n, randomLogs[float64](rnd, n, 3))
	out := math.Inf(-1)
	k := revlog.NewDot(&out, x, y)
	for b.Loop() {
		k.Forward()
	}
	b.SetBytes(16 * n)
}
