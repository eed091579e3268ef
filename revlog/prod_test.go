package revlog_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/internal/number"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlog"
	"revnum/ulog"
)

// logZero returns the log of zero.
func logZero[T rev.Real]() T {
	if number.IsFixed[T]() {
		z := ulog.ZeroLog
		return T(z)
	}
	return T(math.Inf(-1))
}

// randomLogs returns n logs that are scale times standard normal.
func randomLogs[T rev.Real](rnd *rand.Rand, n int, scale float64) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = fixed.Of[T](scale * rnd.NormFloat64())
	}
	return x
}

func prodSpec[T rev.Real]() revtest.Spec[revlog.Prod[T]] {
	problem := func(rnd *rand.Rand, size int) revlog.Prod[T] {
		return revlog.Prod[T]{Out: new(T), X: rev.ViewSlice(randomLogs[T](rnd, size, 2))}
	}
	return revtest.Spec[revlog.Prod[T]]{
		New:  problem,
		Free: []string{"X.N"},
		Failing: func(rnd *rand.Rand, size int) revlog.Prod[T] {
			k := problem(rnd, size+1)
			k.X.Data[rnd.IntN(size+1)] = logZero[T]()
			return k
		},
	}
}

func TestProd(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, prodSpec[float64]()) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, prodSpec[float32]()) })
	t.Run("fixed", func(t *testing.T) { kerneltest.Kernel[fixed.Q43](t, prodSpec[fixed.Q43]()) })
}

// group is the order of the group of positive numbers of ulog.Fixed.
var group = new(big.Int).SetUint64(math.MaxUint64)

// sameLog reports whether the log x is n units modulo 2⁶⁴-1.
func sameLog(x fixed.Q43, n *big.Int) bool {
	d := new(big.Int).Sub(big.NewInt(int64(x)), n)
	return x != ulog.ZeroLog && d.Mod(d, group).Sign() == 0
}

// anyLog returns a log of any size that is not that of zero.
func anyLog(rnd *rand.Rand) fixed.Q43 {
	for {
		x := fixed.Q43(rnd.Uint64()) >> rnd.IntN(64)
		if x != ulog.ZeroLog {
			return x
		}
	}
}

func TestProdFixedIsExact(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 1))
	for range 20_000 {
		out := anyLog(rnd)
		before, want := out, big.NewInt(int64(out))
		x := make([]fixed.Q43, rnd.IntN(6))
		for i := range x {
			x[i] = anyLog(rnd)
			want.Add(want, big.NewInt(int64(x[i])))
		}
		k := revlog.Prod[fixed.Q43]{Out: &out, X: rev.ViewSlice(x)}
		if err := k.Forward(); err != nil {
			t.Fatal(err)
		}
		if !sameLog(out, want) {
			t.Fatalf("%v · Π %v: got %v", before, x, out)
		}
		if err := k.Inverse(); err != nil || out != before {
			t.Fatalf("%v · Π %v: Inverse leaves %v, %v", before, x, out, err)
		}
	}
}

func TestProdOfZero(t *testing.T) {
	zero := ulog.ZeroLog
	x := []fixed.Q43{fixed.Of[fixed.Q43](1), 5}
	k := revlog.Prod[fixed.Q43]{Out: &zero, X: rev.ViewSlice(x)}
	if err := errors.Join(k.Forward(), k.Forward(), k.Inverse()); err != nil || zero != ulog.ZeroLog {
		t.Errorf("zero becomes %v, %v", zero, err)
	}
	inf := math.Inf(1)
	for _, test := range []struct {
		x    float64
		want error
	}{{-inf, ulog.ErrDivideByZero}, {inf, ulog.ErrUndefined}, {math.NaN(), ulog.ErrNaN}} {
		out := 1.0
		k := revlog.Prod[float64]{Out: &out, X: rev.ViewSlice([]float64{2, test.x})}
		if err := k.Forward(); !errors.Is(err, test.want) || out != 1 {
			t.Errorf("factor of log %v: %v, out %v", test.x, err, out)
		}
	}
}
