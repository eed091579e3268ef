package revlog_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlog"
	"revnum/ulog"
)

func powersSpec[T rev.Real]() revtest.Spec[revlog.Powers[T]] {
	problem := func(rnd *rand.Rand, size int) revlog.Powers[T] {
		n := (size + 3) / 2
		return revlog.Powers[T]{
			Y: rev.ViewSlice(make([]T, size)),
			A: rev.NewGeneral(size, n, randomLogs[T](rnd, size*n, 1)),
			X: rev.ViewSlice(randomLogs[T](rnd, n, 2)),
		}
	}
	return revtest.Spec[revlog.Powers[T]]{
		New: problem,
		Failing: func(rnd *rand.Rand, size int) revlog.Powers[T] {
			k := problem(rnd, size)
			k.X.Data[rnd.IntN(k.X.N)] = logZero[T]()
			return k
		},
	}
}

func TestPowers(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, powersSpec[float64]()) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, powersSpec[float32]()) })
	t.Run("fixed", func(t *testing.T) { kerneltest.Kernel[fixed.Q43](t, powersSpec[fixed.Q43]()) })
}

// Whole powers are exact in the group of ulog.Fixed, and Inverse restores every bit of
// a power, whatever wraps.
func TestPowersFixedIsExact(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 1))
	for trial := range 5000 {
		m, n := 1+rnd.IntN(3), rnd.IntN(5)
		whole := trial%2 == 0
		y, x, a := make([]fixed.Q43, m), make([]fixed.Q43, n), rev.NewGeneral[fixed.Q43](m, n, nil)
		for j := range x {
			x[j] = anyLog(rnd)
		}
		for i := range a.Data {
			a.Data[i] = anyLog(rnd)
			if whole {
				a.Data[i] = a.Data[i] >> 43 << 43
			}
		}
		want := make([]*big.Int, m)
		for i := range y {
			y[i] = anyLog(rnd)
			want[i] = big.NewInt(int64(y[i]))
			for j, v := range a.Row(i) {
				want[i].Add(want[i], new(big.Int).Mul(big.NewInt(int64(v>>43)), big.NewInt(int64(x[j]))))
			}
		}
		before := append([]fixed.Q43(nil), y...)
		k := revlog.Powers[fixed.Q43]{Y: rev.ViewSlice(y), A: a, X: rev.ViewSlice(x)}
		if err := k.Forward(); err != nil {
			t.Fatal(err)
		}
		for i := range y {
			if whole && !sameLog(y[i], want[i]) {
				t.Fatalf("trial %d: y[%d] = %v", trial, i, y[i])
			}
		}
		if err := k.Adjoint(revlog.Powers[fixed.Q43]{}); err != nil {
			t.Fatal(err)
		}
		for i := range y {
			if y[i] != before[i] {
				t.Fatalf("trial %d: Adjoint leaves y[%d] = %v, was %v", trial, i, y[i], before[i])
			}
		}
	}
}

// Each fractional power is rounded once, as by ulog.
func TestPowersFixedRounds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 2))
	for range 10_000 {
		x := fixed.Of[fixed.Q43](100 * rnd.NormFloat64())
		a := fixed.Of[fixed.Q43](3 * rnd.NormFloat64())
		y := make([]fixed.Q43, 1)
		k := revlog.Powers[fixed.Q43]{Y: rev.ViewSlice(y), A: rev.NewGeneral(1, 1, []fixed.Q43{a}), X: rev.ViewSlice([]fixed.Q43{x})}
		if err := k.Forward(); err != nil {
			t.Fatal(err)
		}
		exact := new(big.Rat).SetFrac(
			new(big.Int).Mul(big.NewInt(int64(x)), big.NewInt(int64(a))), new(big.Int).Lsh(big.NewInt(1), 43))
		off, _ := exact.Sub(exact, new(big.Rat).SetInt64(int64(y[0]))).Float64()
		if !(math.Abs(off) <= 0.5) {
			t.Fatalf("%v^%v: off by %v units", x, a, off)
		}
	}
}

func TestPowersErrors(t *testing.T) {
	inf := math.Inf(1)
	for _, test := range []struct {
		a, x []float64
		want error
	}{
		{[]float64{0, 1}, []float64{-inf, 1}, ulog.ErrDivideByZero},
		{[]float64{1, 1}, []float64{1, inf}, ulog.ErrUndefined},
		{[]float64{1, 1}, []float64{math.NaN(), 1}, ulog.ErrNaN},
		{[]float64{1, inf}, []float64{1, 1}, ulog.ErrUndefined},
		{[]float64{math.NaN(), 1}, []float64{1, 1}, ulog.ErrUndefined},
	} {
		y := []float64{1}
		k := revlog.Powers[float64]{Y: rev.ViewSlice(y), A: rev.NewGeneral(1, 2, test.a), X: rev.ViewSlice(test.x)}
		if err := k.Forward(); !errors.Is(err, test.want) || y[0] != 1 {
			t.Errorf("x of logs %v to powers %v: %v, y %v", test.x, test.a, err, y)
		}
	}
}

func BenchmarkPowers(b *testing.B) {
	const n = 64
	rnd := rand.New(rand.NewPCG(7, 3))
	b.Run("float64", func(b *testing.B) { benchmarkPowers[float64](b, rnd, n) })
	b.Run("fixed", func(b *testing.B) { benchmarkPowers[fixed.Q43](b, rnd, n) })
}

func benchmarkPowers[T rev.Real](b *testing.B, rnd *rand.Rand, n int) {
	k := revlog.Powers[T]{
		Y: rev.ViewSlice(make([]T, n)),
		A: rev.NewGeneral(n, n, randomLogs[T](rnd, n*n, 1)),
		X: rev.ViewSlice(randomLogs[T](rnd, n, 1)),
	}
	for b.Loop() {
		if err := k.Forward(); err != nil {
			b.Fatal(err)
		}
	}
	kerneltest.ReportFlops(b, 2*n*n)
}
