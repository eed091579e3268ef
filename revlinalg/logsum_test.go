package revlinalg

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/logstep"
	"revnum/rev"
	"revnum/rev/revtest"
)

// The restored log of z has the errors of z' and s, some units, times e^(z'-z),
// which is below e⁴ for the sums below.
const logRoundTrip = 4 * 55

// logOutput returns a log of the size of that of a sum of n numbers near 1.
func logOutput[T rev.Float](rnd *rand.Rand, n int) T {
	return T(math.Log(1+float64(n)) + rnd.Float64())
}

func TestLogSum(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, logSumSpec[float64]()) })
	t.Run("float32", func(t *testing.T) { revtest.Kernel(t, logSumSpec[float32]()) })
}

func logSumSpec[T rev.Float]() revtest.Spec[LogSum[T]] {
	return revtest.Spec[LogSum[T]]{
		New: func(rnd *rand.Rand, size int) LogSum[T] {
			out := logOutput[T](rnd, size)
			return LogSum[T]{Out: &out, X: rev.ViewSlice(normals[T](rnd, size, 1))}
		},
		Large:     3*chunk + 5,
		RoundTrip: logRoundTrip,
		Free:      []string{"X.N"},
	}
}

// bigLogSum returns log Σ e^t_i for exact terms as m + log Σ e^(t_i-m). The
// error of the second summand, which is at most log n, is some 2⁻⁵².
func bigLogSum(terms []*big.Float) (m *big.Float, rest float64) {
	m = terms[0]
	for _, t := range terms {
		if t.Cmp(m) > 0 {
			m = t
		}
	}
	sum := 0.0
	for _, t := range terms {
		d, _ := new(big.Float).Sub(t, m).Float64()
		sum += math.Exp(d)
	}
	return m, math.Log(sum)
}

// logError returns got - m - rest.
func logError(got float64, m *big.Float, rest float64) float64 {
	d, _ := new(big.Float).SetPrec(2200).Sub(big.NewFloat(got), m).Float64()
	return d - rest
}

func exact(x ...float64) *big.Float {
	s := new(big.Float).SetPrec(2200)
	for _, v := range x {
		s.Add(s, big.NewFloat(v))
	}
	return s
}

func TestLogSumBound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 1))
	for range 300 {
		n := 1 + rnd.IntN(3*chunk)
		scale := math.Pow(10, float64(rnd.IntN(8)-2))
		x := normals[float64](rnd, n, scale)
		shift := scale * rnd.NormFloat64()
		terms := make([]*big.Float, n)
		for i := range x {
			x[i] += shift
			terms[i] = exact(x[i])
		}
		out := math.Inf(-1)
		LogSum[float64]{Out: &out, X: rev.ViewSlice(x)}.Forward()
		m, rest := bigLogSum(terms)
		bound := (float64(n) + 4 + 3*math.Abs(out) + math.Log(float64(n))) * 0x1p-53
		if e := logError(out, m, rest); !(math.Abs(e) <= bound+0x1p-51) {
			t.Fatalf("n=%d, scale %v: log %v has error %.3g, want at most %.3g", n, scale, out, e, bound)
		}
	}
}

func TestLogSumValues(t *testing.T) {
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
		k := LogSum[float64]{Out: &out, X: rev.ViewSlice(test.x)}
		k.Forward()
		if !near(out, test.want, 1e-15) {
			t.Errorf("%v ⊕ %v: got %v, want %v", test.out, test.x, out, test.want)
		}
		k.Inverse()
		if !near(out, test.back, 1e-15) {
			t.Errorf("%v ⊕ %v ⊖ ...: got %v, want %v", test.out, test.x, out, test.back)
		}
	}
}

// A sum that is put in the place of a zero is taken out again, whatever it is,
// and all shares of the terms are as they were.
func TestLogSumIntoZero(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		x := normals[float32](rnd, 2+rnd.IntN(50), 1000)
		x[rnd.IntN(len(x))] = float32(math.Inf(-1))
		out, gout := float32(math.Inf(-1)), float32(1)
		gx := make([]float32, len(x))
		k := LogSum[float32]{Out: &out, X: rev.ViewSlice(x)}
		k.Forward()
		k.Adjoint(LogSum[float32]{Out: &gout, X: rev.ViewSlice(gx)})
		if !logstep.IsZero(out) {
			t.Fatalf("Adjoint leaves %v", out)
		}
		if gout != 0 {
			t.Errorf("cotangent of zero is %v", gout)
		}
		lost := gout
		k.InverseAdjoint(LogSum[float32]{Out: &lost})
		if lost == lost {
			t.Errorf("InverseAdjoint makes %v of a cotangent that is lost", lost)
		}
		k.Inverse()
		sum := 0.0
		for i, g := range gx {
			sum += float64(g)
			if logstep.IsZero(x[i]) && g != 0 {
				t.Errorf("share of a zero is %v", g)
			}
		}
		if !near(sum, 1, 4000*0x1p-23) { // the rounding of a log near 4000
			t.Errorf("shares sum to %v", sum)
		}
	}
}

func TestLogSumRestores(t *testing.T) {
	t.Run("float64", testLogSumRestores[float64])
	t.Run("float32", testLogSumRestores[float32])
}

func testLogSumRestores[T rev.Float](t *testing.T) {
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
		k := LogSum[T]{Out: &out, X: rev.ViewSlice(x)}
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

func BenchmarkLogSum(b *testing.B) {
	rnd := rand.New(rand.NewPCG(2, 3))
	x := mat.NewVecDense(1<<16, normals[float64](rnd, 1<<16, 3))
	out := math.Inf(-1)
	k := NewLogSum(&out, x)
	for b.Loop() {
		k.Forward()
	}
	reportBytes(b, 8*x.Len())
}
