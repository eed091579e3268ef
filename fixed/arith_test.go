package fixed

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// exact returns the integer nearest to n/d, ties to even. Unlike the package, it uses
// fractions.
func exact(n, d *big.Int) *big.Int {
	two := new(big.Rat).SetFrac(new(big.Int).Add(new(big.Int).Mul(n, big.NewInt(2)), d), new(big.Int).Mul(d, big.NewInt(2)))
	floor := new(big.Int).Div(two.Num(), two.Denom()) // ⌊n/d + 1/2⌋
	if two.IsInt() && floor.Bit(0) != 0 {
		floor.Sub(floor, big.NewInt(1))
	}
	return floor
}

func inRange(i *big.Int) bool { return i.IsInt64() }

// wrap returns i modulo 2⁶⁴ in [-2⁶³, 2⁶³).
func wrap(i *big.Int) Q43 {
	m := new(big.Int).Mod(i, new(big.Int).Lsh(big.NewInt(1), 64))
	return Q43(m.Uint64())
}

func saturate(i *big.Int) Q43 {
	if !inRange(i) {
		return limit(i.Sign() < 0)
	}
	return wrap(i)
}

// checkArithmetic compares every operation on x, y and z with integers without
// bounds.
func checkArithmetic(t *testing.T, x, y, z Q43) {
	t.Helper()
	one := big.NewInt(1 << FracBits)
	bx, by, bz := big.NewInt(int64(x)), big.NewInt(int64(y)), big.NewInt(int64(z))
	product := exact(new(big.Int).Mul(bx, by), one)
	type checked func() (Q43, error)
	check := func(name string, want *big.Int, got, sat Q43, c checked) {
		t.Helper()
		if got != wrap(want) {
			t.Fatalf("%s(%d, %d) = %d, want %d", name, x, y, got, wrap(want))
		}
		if s := saturate(want); sat != s {
			t.Fatalf("%sSat(%d, %d) = %d, want %d", name, x, y, sat, s)
		}
		v, err := c()
		if inRange(want) && (err != nil || v != got) || !inRange(want) && (!errors.Is(err, ErrRange) || v != 0) {
			t.Fatalf("%sChecked(%d, %d) = %d, %v, want %d", name, x, y, v, err, want)
		}
	}
	check("Add", new(big.Int).Add(bx, by), x+y, x.AddSat(y), func() (Q43, error) { return x.AddChecked(y) })
	check("Sub", new(big.Int).Sub(bx, by), x-y, x.SubSat(y), func() (Q43, error) { return x.SubChecked(y) })
	check("Mul", product, x.Mul(y), x.MulSat(y), func() (Q43, error) { return x.MulChecked(y) })
	check("Neg", new(big.Int).Neg(bx), -x, x.NegSat(), x.NegChecked)
	check("Abs", new(big.Int).Abs(bx), x.Abs(), x.AbsSat(), x.AbsChecked)
	if y != 0 {
		n, d := new(big.Int).Mul(bx, one), by
		if d.Sign() < 0 {
			n.Neg(n)
			d = new(big.Int).Neg(d)
		}
		check("Div", exact(n, d), x.Div(y), x.DivSat(y), func() (Q43, error) { return x.DivChecked(y) })
	} else if v, err := x.DivChecked(y); !errors.Is(err, ErrDivideByZero) || v != 0 {
		t.Fatalf("DivChecked(%d, 0) = %d, %v", x, v, err)
	}

	if got, want := z.MulAdd(x, y), wrap(new(big.Int).Add(bz, product)); got != want {
		t.Fatalf("MulAdd(%d, %d, %d) = %d, want %d", z, x, y, got, want)
	}
	if got := z.MulAdd(x, y).MulSub(x, y); got != z {
		t.Fatalf("MulSub after MulAdd(%d, %d, %d) = %d", z, x, y, got)
	}
	if Product(x, y) != x.Mul(y) || x.Mul(y) != y.Mul(x) {
		t.Fatalf("products of %d and %d differ", x, y)
	}

	// The sum of all products and numbers is rounded once.
	var a Accumulator
	a.AddMul(x, y)
	a.Add(z)
	a.AddMul(y, z)
	a.SubMul(z, z)
	a.Sub(x)
	sum := new(big.Int).Mul(bx, by)
	sum.Add(sum, new(big.Int).Mul(bz, one)).Add(sum, new(big.Int).Mul(by, bz)).Sub(sum, new(big.Int).Mul(bz, bz)).Sub(sum, new(big.Int).Mul(bx, one))
	want := exact(sum, one)
	if got := a.Round(); got != wrap(want) {
		t.Fatalf("accumulated %d, want %d", got, want)
	}
	if v, err := a.RoundChecked(); inRange(want) && (v != wrap(want) || err != nil) || !inRange(want) && (v != 0 || !errors.Is(err, ErrRange)) {
		t.Fatalf("RoundChecked() = %d, %v, want %d", v, err, want)
	}
	a.Add(x)
	a.SubMul(y, z)
	a.AddMul(z, z)
	a.Sub(z)
	a.SubMul(x, y)
	if a != (Accumulator{}) {
		t.Fatalf("accumulator of %d, %d, %d not undone: %v", x, y, z, a)
	}
}

func TestArithmetic(t *testing.T) {
	for _, x := range extremes {
		for _, y := range extremes {
			checkArithmetic(t, x, y, x^y>>1)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range samples(30000) {
		x, y, z := randomQ43(r), randomQ43(r), randomQ43(r)
		checkArithmetic(t, x, y, z)
		// Ties: odd multiples of half a unit.
		k := r.IntN(43)
		checkArithmetic(t, (x|1)<<k, (y|1)<<(42-k), z)
	}
}

func FuzzArithmetic(f *testing.F) {
	f.Add(int64(1), int64(1)<<42, int64(-1))
	f.Add(int64(Min), int64(-1), int64(Max))
	f.Fuzz(func(t *testing.T, x, y, z int64) {
		checkArithmetic(t, Q43(x), Q43(y), Q43(z))
	})
}

func TestDivideByZero(t *testing.T) {
	for _, x := range []Q43{0, 1, -One, Min, Max} {
		mustPanic(t, "Div", func() { x.Div(0) })
		mustPanic(t, "DivSat", func() { x.DivSat(0) })
	}
}

// numbers draws vectors of arbitrary numbers. Extremes are frequent.
func numbers(minLen, maxLen int) *rapid.Generator[[]Q43] {
	return rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(extremes), rapid.Map(rapid.Int64(), func(i int64) Q43 { return Q43(i) })), minLen, maxLen)
}

// TestAccumulatorOrder checks that a sum has the same bits in any order and any division.
func TestAccumulatorOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := numbers(0, 30).Draw(t, "x")
		y := numbers(len(x), len(x)).Draw(t, "y")
		var whole Accumulator
		whole.AddDot(x, y)
		if whole.Round() != Dot(x, y) {
			t.Fatal("Dot differs from AddDot")
		}
		cut := rapid.IntRange(0, len(x)).Draw(t, "cut")
		var head, tail Accumulator
		head.AddDot(x[:cut], y[:cut])
		for i := len(x) - 1; i >= cut; i-- {
			tail.AddMul(y[i], x[i])
		}
		parts := head
		parts.AddAcc(tail)
		if parts != whole {
			t.Fatalf("sum in parts %v, whole %v", parts, whole)
		}
		words := head
		words.AddWords(tail.hi, tail.lo)
		if words != whole {
			t.Fatalf("sum with the words of a part %v, whole %v", words, whole)
		}
		parts.SubAcc(tail)
		if parts != head {
			t.Fatal("SubAcc does not undo AddAcc")
		}
		whole.SubDot(x, y)
		if whole != (Accumulator{}) {
			t.Fatal("SubDot does not undo AddDot")
		}
	})
	mustPanic(t, "Dot of a shorter vector", func() { Dot(make([]Q43, 2), make([]Q43, 1)) })
}

// TestSumsUndone checks that sums of products are undone to the bit, even if they overflow.
func TestSumsUndone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := numbers(1, 30).Draw(t, "x")
		start := x[0]
		y := start
		for i := 1; i < len(x); i++ {
			y = y.MulAdd(x[i], x[i-1]) + x[i]
		}
		for i := len(x) - 1; i >= 1; i-- {
			y = (y - x[i]).MulSub(x[i], x[i-1])
		}
		if y != start {
			t.Fatalf("came back to %d from %d", y, start)
		}
	})
}

// TestAccumulatorOver compares with integers of any size, rounded half away from zero.
func TestAccumulatorOver(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 8))
	for range 10000 {
		var a Accumulator
		exact := new(big.Int)
		for range 1 + rnd.IntN(4) {
			x, y := Q43(rnd.Uint64()>>rnd.IntN(64)), Q43(rnd.Uint64()>>rnd.IntN(64))
			if rnd.IntN(2) == 0 {
				x = -x
			}
			x >>= 2 // so that no sum wraps
			a.AddMul(x, y)
			exact.Add(exact, new(big.Int).Mul(big.NewInt(int64(x)), big.NewInt(int64(y))))
		}
		n := 1 + rnd.IntN(1<<rnd.IntN(40))
		// ⌊|2a|/(n·2⁴³) + 1⌋/2, with the sign of a
		q := new(big.Int).Lsh(new(big.Int).Abs(exact), 1)
		q.Quo(q, new(big.Int).Lsh(big.NewInt(int64(n)), FracBits))
		q.Rsh(q.Add(q, big.NewInt(1)), 1)
		want := wrap(q)
		if exact.Sign() < 0 {
			want = -want
		}
		if got := a.Over(n); got != want {
			t.Fatalf("%v/%d = %d, want %d", exact, n, got, want)
		}
	}
}
