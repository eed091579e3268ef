package fixed

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// checkConversion compares the conversions of v with the integer nearest to v·2⁴³.
func checkConversion(t *testing.T, v *big.Rat, wrapped func() Q43, checked func() (Q43, error)) {
	t.Helper()
	want := exact(new(big.Int).Lsh(v.Num(), FracBits), v.Denom())
	if got := wrapped(); got != wrap(want) {
		t.Fatalf("%v converts to %d, want %d", v, got, wrap(want))
	}
	got, err := checked()
	if inRange(want) && (err != nil || got != wrap(want)) || !inRange(want) && (!errors.Is(err, ErrRange) || got != 0) {
		t.Fatalf("%v converts to %d, %v, want %d", v, got, err, want)
	}
}

func checkFloat64(t *testing.T, v float64) {
	t.Helper()
	switch x, err := FromFloat64Checked(v); {
	case v != v:
		if !errors.Is(err, ErrDomain) || x != 0 {
			t.Fatalf("FromFloat64Checked(NaN) = %v, %v", x, err)
		}
		mustPanic(t, "FromFloat64(NaN)", func() { FromFloat64(v) })
		mustPanic(t, "FromFloat64Sat(NaN)", func() { FromFloat64Sat(v) })
		return
	case math.IsInf(v, 0):
		if !errors.Is(err, ErrRange) || x != 0 {
			t.Fatalf("FromFloat64Checked(%v) = %v, %v", v, x, err)
		}
		mustPanic(t, "FromFloat64 of infinity", func() { FromFloat64(v) })
		if s := FromFloat64Sat(v); s != limit(v < 0) {
			t.Fatalf("FromFloat64Sat(%v) = %v", v, s)
		}
		return
	}
	rat := new(big.Rat).SetFloat64(v)
	checkConversion(t, rat, func() Q43 { return FromFloat64(v) }, func() (Q43, error) { return FromFloat64Checked(v) })
	checkConversion(t, rat, func() Q43 { return FromRat(rat) }, func() (Q43, error) { return FromRatChecked(rat) })
	f := new(big.Float).SetFloat64(v)
	checkConversion(t, rat, func() Q43 { return FromBigFloat(f) }, func() (Q43, error) { return FromBigFloatChecked(f) })
	want := exact(new(big.Int).Lsh(rat.Num(), FracBits), rat.Denom())
	if got := FromFloat64Sat(v); got != saturate(want) {
		t.Fatalf("FromFloat64Sat(%v) = %v", v, got)
	}
}

func TestFromFloat(t *testing.T) {
	tie := math.Ldexp(1, -44)
	for _, v := range []float64{
		0, math.Copysign(0, -1), 1, 0.1, tie, 3 * tie, 5 * tie, math.Nextafter(tie, 0), math.Nextafter(tie, 1), 1 << 20, 1<<20 - tie,
		math.Nextafter(1<<20, 0), math.Nextafter(1<<20, 1<<21), 1 << 21, 1<<21 + 0.5, 3 << 20, 1e15 + 0.125, 1e300, math.MaxFloat64,
		math.SmallestNonzeroFloat64, math.NaN(), math.Inf(1),
	} {
		checkFloat64(t, v)
		checkFloat64(t, -v)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range samples(50000) {
		checkFloat64(t, math.Ldexp(r.NormFloat64(), r.IntN(140)-70))
		checkFloat64(t, float64(float32(math.Ldexp(r.NormFloat64(), r.IntN(60)-30))))
		checkFloat64(t, float64(r.Int64N(1<<30))*tie)
	}
}

func FuzzFromFloat64(f *testing.F) {
	f.Add(1.5)
	f.Add(-0x1p20)
	f.Fuzz(func(t *testing.T, v float64) { checkFloat64(t, v) })
}

func TestTo(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	check := func(x Q43) {
		rat := new(big.Rat).SetFrac(big.NewInt(int64(x)), big.NewInt(1<<FracBits))
		if x.Rat().Cmp(rat) != 0 {
			t.Fatalf("%d: Rat = %v", x, x.Rat())
		}
		if v, _ := x.BigFloat().Rat(nil); v.Cmp(rat) != 0 {
			t.Fatalf("%d: BigFloat = %v", x, v)
		}
		if FromRat(rat) != x || FromBigFloat(x.BigFloat()) != x {
			t.Fatalf("%d does not come back from big numbers", x)
		}
		if want, _ := rat.Float64(); x.Float64() != want {
			t.Fatalf("%d: Float64 = %v, want %v", x, x.Float64(), want)
		}
		if want, _ := rat.Float32(); x.Float32() != want {
			t.Fatalf("%d: Float32 = %v, want %v", x, x.Float32(), want)
		}
		if want := new(big.Int).Quo(rat.Num(), rat.Denom()); int64(x.Int()) != want.Int64() {
			t.Fatalf("%d: Int = %v, want %v", x, x.Int(), want)
		}
		if y := FromFloat64(x.Float64()); magnitude(x) <= 1<<53 && y != x {
			t.Fatalf("%d comes back from float64 as %d", x, y)
		}
	}
	for _, x := range extremes {
		check(x)
	}
	for range samples(50000) {
		check(randomQ43(r))
	}
}

func TestFromInt(t *testing.T) {
	for _, i := range []int{0, 1, -1, 1<<20 - 1, 1 << 20, -1 << 20, -1<<20 - 1, 1 << 21, 3<<20 + 5, math.MaxInt, math.MinInt} {
		checkConversion(t, new(big.Rat).SetInt64(int64(i)), func() Q43 { return FromInt(i) }, func() (Q43, error) { return FromIntChecked(i) })
	}
}

// TestFromBigFloat checks that numbers too large for any integer are converted at once.
func TestFromBigFloat(t *testing.T) {
	huge := new(big.Float).SetMantExp(big.NewFloat(1.5), math.MaxInt32-10)
	tiny := new(big.Float).SetMantExp(big.NewFloat(1.5), math.MinInt32+10)
	if x, err := FromBigFloatChecked(huge); x != 0 || !errors.Is(err, ErrRange) {
		t.Errorf("huge number: %v, %v", x, err)
	}
	if x := FromBigFloat(huge); x != 0 {
		t.Errorf("huge number: %v", x)
	}
	if x, err := FromBigFloatChecked(tiny); x != 0 || err != nil {
		t.Errorf("tiny number: %v, %v", x, err)
	}
	if x, err := FromBigFloatChecked(new(big.Float).SetInf(true)); x != 0 || !errors.Is(err, ErrRange) {
		t.Errorf("-Inf: %v, %v", x, err)
	}
	mustPanic(t, "FromBigFloat(Inf)", func() { FromBigFloat(new(big.Float).SetInf(false)) })
	// Without the last of many bits, this would be a tie.
	for _, sign := range []float64{1, -1} {
		v := new(big.Float).SetMantExp(big.NewFloat(sign), -44).SetPrec(4000)
		if x := FromBigFloat(v); x != 0 {
			t.Errorf("tie: %d", x)
		}
		v.Add(v, new(big.Float).SetMantExp(big.NewFloat(sign), -3000))
		if x := FromBigFloat(v); x != Q43(sign) {
			t.Errorf("above the tie: %d", x)
		}
	}
}
