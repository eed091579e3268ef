package revlog_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/internal/logstep"
	"revnum/internal/logstep/logtest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlog"
)

// The restored log of z has the errors of z' and s, some units, times e^(z'-z),
// which is below e⁴ for the sums below.
const logRoundTrip = 4 * 55

// logOutput returns a log of the size of that of a sum of n numbers near 1.
func logOutput[T rev.Float](rnd *rand.Rand, n int) T {
	return T(math.Log(1+float64(n)) + rnd.Float64())
}

func TestSum(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, sumSpec[float64]()) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, sumSpec[float32]()) })
}

func sumSpec[T rev.Float]() revtest.Spec[revlog.Sum[T]] {
	return revtest.Spec[revlog.Sum[T]]{
		New: func(rnd *rand.Rand, size int) revlog.Sum[T] {
			out := logOutput[T](rnd, size)
			return revlog.Sum[T]{Out: &out, X: rev.ViewSlice(randomLogs[T](rnd, size, 1))}
		},
		Large:     3*chunk + 5,
		RoundTrip: logRoundTrip,
		Free:      []string{"X.N"},
	}
}

func TestSumBound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 1))
	for range 300 {
		n := 1 + rnd.IntN(3*chunk)
		scale := math.Pow(10, float64(rnd.IntN(8)-2))
		x := randomLogs[float64](rnd, n, scale)
		shift := scale * rnd.NormFloat64()
		terms := make([]*big.Float, n)
		for i := range x {
			x[i] += shift
			terms[i] = logtest.Exact(x[i])
		}
		out := math.Inf(-1)
		revlog.Sum[float64]{Out: &out, X: rev.ViewSlice(x)}.Forward()
		m, rest := logtest.Sum(terms)
		bound := (float64(n) + 4 + 3*math.Abs(out) + math.Log(float64(n))) * 0x1p-53
		if e := logtest.Error(out, m, rest); !(math.Abs(e) <= bound+0x1p-51) {
			t.Fatalf("n=%d, scale %v: log %v has error %.3g, want at most %.3g", n, scale, out, e, bound)
		}
	}
}

func TestSumValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, test := range []struct {
		out  float64
		x    []float64
		want float64
		back float64 // what Inverse makes of it
	}{
		{-inf, nil, -inf, -inf},
		{3, nil, 3, 3},
		{3, []float64{-inf, -inf}, 3, 3},
		{-inf, []float64{-inf}, -inf, -inf},
		{-inf, []float64{5}, 5, -inf},
		{-inf, []float64{-1e300, -1e300}, -1e300, -inf},
		{0, []float64{0}, math.Ln2, 0},
		{-inf, []float64{inf, 3}, inf, nan},
		{0, []float64{inf, -inf}, inf, nan},
		{inf, []float64{1, 2}, inf, inf},
		{0, []float64{1, nan}, nan, nan},
		{nan, []float64{1, 2}, nan, nan},
		{1e5, []float64{-1e5}, 1e5, 1e5},
		{-1e5, []float64{1e5}, 1e5, -inf}, // too small to be restored
	} {
		out := test.out
		k := revlog.Sum[float64]{Out: &out, X: rev.ViewSlice(test.x)}
		k.Forward()
		if !kerneltest.Near(out, test.want, 1e-15) {
			t.Errorf("%v ⊕ %v: got %v, want %v", test.out, test.x, out, test.want)
		}
		k.Inverse()
		if !kerneltest.Near(out, test.back, 1e-15) {
			t.Errorf("%v ⊕ %v ⊖ ...: got %v, want %v", test.out, test.x, out, test.back)
		}
	}
}

// A sum that is put in the place of a zero is taken out again, whatever it is,
// and all shares of the terms are as they were.
func TestSumIntoZero(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		x := randomLogs[float32](rnd, 2+rnd.IntN(50), 1000)
		x[rnd.IntN(len(x))] = float32(math.Inf(-1))
		out, gout := float32(math.Inf(-1)), float32(1)
		gx := make([]float32, len(x))
		k := revlog.Sum[float32]{Out: &out, X: rev.ViewSlice(x)}
		k.Forward()
		k.Adjoint(revlog.Sum[float32]{Out: &gout, X: rev.ViewSlice(gx)})
		if !logstep.IsZero(out) {
			t.Fatalf("Adjoint leaves %v", out)
		}
		if gout != 0 {
			t.Errorf("cotangent of zero is %v", gout)
		}
		sum := 0.0
		for i, g := range gx {
			sum += float64(g)
			if logstep.IsZero(x[i]) && g != 0 {
				t.Errorf("share of a zero is %v", g)
			}
		}
		if !kerneltest.Near(sum, 1, 4000*0x1p-23) { // the rounding of a log near 4000
			t.Errorf("shares sum to %v", sum)
		}
	}
}

func TestSumRestores(t *testing.T) {
	t.Run("float64", testSumRestores[float64])
	t.Run("float32", testSumRestores[float32])
}

func testSumRestores[T rev.Float](t *testing.T) {
	eps := 0x1p-52
	if any(T(0)) == any(float32(0)) {
		eps = 0x1p-23
	}
	rnd := rand.New(rand.NewPCG(2, 4))
	for range 100_000 {
		scale := math.Pow(10, float64(rnd.IntN(7)-3))
		z := T(scale * rnd.NormFloat64())
		x := []T{z + T(rnd.Float64()*60-30)}
		out := z
		k := revlog.Sum[T]{Out: &out, X: rev.ViewSlice(x)}
		k.Forward()
		after := float64(out)
		k.Inverse()
		bound := eps * (math.Abs(after) + 2) * math.Exp(after-float64(z))
		if logstep.IsZero(out) {
			if bound < 0.25 {
				t.Fatalf("%v ⊕ %v ⊖ %v is zero", z, x[0], x[0])
			}
		} else if e := math.Abs(float64(out - z)); bound < 0.25 && !(e <= bound) {
			t.Fatalf("%v ⊕ %v ⊖ %v is %v, off by %.3g > %.3g", z, x[0], x[0], out, e, bound)
		}
	}
}

func BenchmarkSum(b *testing.B) {
	rnd := rand.New(rand.NewPCG(2, 3))
	x := mat.NewVecDense(1<<16, randomLogs[float64](rnd, 1<<16, 3))
	out := math.Inf(-1)
	k := revlog.NewSum(&out, x)
	for b.Loop() {
		k.Forward()
	}
	b.SetBytes(int64(8 * x.Len()))
}
