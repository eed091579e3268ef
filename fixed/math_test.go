package fixed

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"revnum/internal/long"
)

// errorBound is the largest error that the documentation allows for Exp, Exp2, Log, Log2,
// Sin, Cos, Atan2 and Pow, in units in the last place.
const errorBound = 0.51

// samples returns how many random numbers a test takes: n, or a tenth of them.
func samples(n int) int { return long.Or(n, n/10) }

// unary is a function on the numbers of [lo, hi], with its reference.
type unary struct {
	name   string
	f      func(Q43) Q43
	ref    func(*big.Float) *big.Float
	lo, hi Q43
	bound  float64
	at     []Q43 // further arguments to test
}

var unaries = []unary{
	{"Sqrt", Sqrt, func(x *big.Float) *big.Float { return newBig().Sqrt(x) }, 0, Max, 0.5, nil},
	{"Exp", Exp, refExp, -32 * One, 20*Ln2 - 8, errorBound, []Q43{13 * One, 20*Ln2 - 20, -30*One - One/2,
		121695622292042, 121700926019900, 118061280257281, 118674422647488}},
	{"Exp2", Exp2, func(x *big.Float) *big.Float { return refExp(mul(x, refLn2)) }, -46 * One, 20*One - 1, errorBound,
		[]Q43{-43 * One, -44 * One, -45 * One, -44*One - 1, 19 * One, 20*One - 1, 20*One - 1<<20, 175576381997426, 175882936125902, 175872467590552, 175873944346754}},
	{"Log", Log, refLog, 1, Max, errorBound, []Q43{One, One - 1, One + 1, 2*One - 1, 1, 2, 3}},
	{"Log2", Log2, func(x *big.Float) *big.Float { return quo(refLog(x), refLn2) }, 1, Max, errorBound, []Q43{One, One - 1, One + 1}},
	{"Sin", Sin, func(x *big.Float) *big.Float { s, _ := refSinCos(x); return s }, Min, Max, errorBound,
		[]Q43{Pi, Pi / 2, Pi / 4, Pi/4 + 1, 3 * Pi / 4, -Pi, 2 * Pi, 7 * Pi / 4, Pi * 20000}},
	{"Cos", Cos, func(x *big.Float) *big.Float { _, c := refSinCos(x); return c }, Min, Max, errorBound,
		[]Q43{Pi, Pi / 2, Pi / 4, Pi/4 + 1, 3 * Pi / 4, -Pi, 2 * Pi, 7 * Pi / 4, Pi * 20000}},
}

// error returns the error at x, in units in the last place.
func (u *unary) error(x Q43) float64 {
	if x < u.lo || x > u.hi {
		return 0
	}
	return ulps(u.f(x), u.ref(bigOf(x)))
}

func TestUnary(t *testing.T) {
	for _, u := range unaries {
		t.Run(u.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			worst, at := 0.0, Q43(0)
			check := func(x Q43) {
				if e := u.error(x); e > worst {
					worst, at = e, x
				}
			}
			for _, x := range extremes {
				check(x)
			}
			for _, x := range u.at {
				for d := Q43(-3); d <= 3; d++ {
					check(x + d)
				}
			}
			for range samples(4000) {
				check(randomQ43(r))
				check(u.lo + Q43(r.Uint64N(uint64(u.hi)-uint64(u.lo))))
				check(u.hi - Q43(r.Uint64N(uint64(One))))
			}
			t.Logf("largest error %.5f units, at %v", worst, at)
			if worst > u.bound {
				t.Errorf("error of %.5f units at %v (%d), want at most %v", worst, at, int64(at), u.bound)
			}
		})
	}
}

// checkAtan2 returns the error of Atan2(y, x) in units in the last place.
func checkAtan2(t *testing.T, y, x Q43) float64 {
	t.Helper()
	e := ulps(Atan2(y, x), refAtan2(bigOf(y), bigOf(x)))
	if e > errorBound {
		t.Errorf("Atan2(%v, %v) = %v: error of %.5f units", y, x, Atan2(y, x), e)
	}
	return e
}

func checkHypot(t *testing.T, x, y Q43) {
	t.Helper()
	want := newBig().Sqrt(add(mul(bigOf(x), bigOf(x)), mul(bigOf(y), bigOf(y))))
	got, err := HypotChecked(x, y)
	if err != nil {
		if _, err := FromBigFloatChecked(want); err == nil {
			t.Fatalf("Hypot(%v, %v) = %v, want %v", x, y, err, want)
		}
		return
	}
	if e := ulps(got, want); e > 0.5 {
		t.Fatalf("Hypot(%v, %v) = %v: error of %.5f units", x, y, got, e)
	}
}

// checkPow returns the error of Pow(x, y) in units in the last place.
func checkPow(t *testing.T, x, y Q43) float64 {
	t.Helper()
	got, err := PowChecked(x, y)
	integer := y&(One-1) == 0
	switch {
	case y == 0:
		if got != One || err != nil {
			t.Fatalf("Pow(%v, 0) = %v, %v", x, got, err)
		}
		return 0
	case x == 0:
		if got != 0 || errors.Is(err, ErrDivideByZero) != (y < 0) {
			t.Fatalf("Pow(0, %v) = %v, %v", y, got, err)
		}
		return 0
	case x < 0 && !integer:
		if !errors.Is(err, ErrDomain) {
			t.Fatalf("Pow(%v, %v) = %v, %v", x, y, got, err)
		}
		return 0
	}
	l := mul(refLog(newBig().Abs(bigOf(x))), bigOf(y))
	if f, _ := l.Float64(); f > 14 {
		if !errors.Is(err, ErrRange) {
			t.Fatalf("Pow(%v, %v) = %v, %v", x, y, got, err)
		}
		return 0
	} else if f < -40 {
		if got != 0 || err != nil {
			t.Fatalf("Pow(%v, %v) = %v, %v", x, y, got, err)
		}
		return 0
	}
	want := refExp(l)
	if x < 0 && y&One != 0 {
		want.Neg(want)
	}
	if err != nil {
		if _, out := FromBigFloatChecked(want); out == nil || !errors.Is(err, ErrRange) {
			t.Fatalf("Pow(%v, %v): %v, want %v", x, y, err, want)
		}
		return 0
	}
	e := ulps(got, want)
	if e > errorBound {
		t.Errorf("Pow(%v, %v) = %v: error of %.5f units", x, y, got, e)
	}
	return e
}

func FuzzFunctions(f *testing.F) {
	f.Add(int64(One), int64(2*One))
	f.Add(int64(Min), int64(One))
	f.Add(int64(-1), int64(Max))
	f.Fuzz(func(t *testing.T, a, b int64) {
		x, y := Q43(a), Q43(b)
		for _, u := range unaries {
			if e := u.error(x); e > u.bound {
				t.Errorf("%s(%d): error of %.5f units", u.name, x, e)
			}
		}
		checkAtan2(t, y, x)
		checkHypot(t, x, y)
		checkPow(t, x, y)
	})
}

func TestAtan2(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	worst := 0.0
	check := func(y, x Q43) { worst = max(worst, checkAtan2(t, y, x)) }
	for _, y := range extremes {
		for _, x := range extremes {
			check(y, x)
		}
	}
	for range samples(5000) {
		y, x := randomQ43(r), randomQ43(r)
		check(y, x)
		check(x, x+randomQ43(r)>>20)
	}
	t.Logf("largest error %.5f units", worst)
}

func TestHypot(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	check := func(x, y Q43) {
		checkHypot(t, x, y)
		var sum Accumulator
		sum.AddMul(x, x)
		sum.AddMul(y, y)
		want, err := HypotChecked(x, y)
		if err != nil {
			want = Min
		}
		if got := sum.Sqrt(); got != want {
			t.Errorf("root of %d² + %d² is %d, want %d", x, y, got, want)
		}
	}
	for _, x := range extremes {
		for _, y := range extremes {
			check(x, y)
		}
	}
	for range samples(100000) {
		check(randomQ43(r), randomQ43(r))
	}
}

func TestPow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	worst := 0.0
	check := func(x, y Q43) { worst = max(worst, checkPow(t, x, y)) }
	for _, x := range extremes {
		for _, y := range extremes {
			check(x, y)
		}
	}
	check(-16*One, 5*One)
	for _, y := range []Q43{175576381997426, 175882936125902, 175873944346754, 168277725002439} { // hard ones for Exp2
		check(2*One, y)
	}
	for range samples(3000) {
		x, y := randomQ43(r), randomQ43(r)
		check(x, y)
		check(x, y&^(One-1))
		// Results in range: y near ln(z)/ln(x) for z in range.
		if a := x.Float64(); a > 0 && x != One {
			l := math.Log(a)
			check(x, FromFloat64Sat((r.Float64()*43-29.5)/l))
			check(x, FromFloat64Sat((13.8629436111989-r.Float64()*1e-4)/l))
		}
	}
	t.Logf("largest error %.5f units", worst)
}

func TestExact(t *testing.T) {
	for k := -43; k < 20; k++ {
		x := Q43(k) * One
		p := Q43(1) << (k + FracBits)
		if got := Exp2(x); got != p {
			t.Errorf("Exp2(%d) = %v, want %v", k, got, p)
		}
		if got := Log2(p); got != x {
			t.Errorf("Log2(%v) = %v, want %d", p, got, k)
		}
		if k%2 != 0 {
			if got := Pow(2*One, x); got != p {
				t.Errorf("Pow(2, %d) = %v, want %v", k, got, p)
			}
		}
	}
	for i := -1023; i <= 1023; i++ {
		x := FromInt(i)
		if got := Sqrt(x.Mul(x)); got != x.Abs() {
			t.Errorf("Sqrt(%d²) = %v", i, got)
		}
	}
	for _, c := range []struct{ got, want Q43 }{
		{Exp(0), One}, {Log(One), 0}, {Sin(0), 0}, {Cos(0), One}, {Atan2(0, One), 0}, {Atan2(0, 0), 0},
		{Atan2(0, -One), Pi}, {Atan2(-1, Min), -Pi}, {Exp(One), E}, {Log(2 * One), Ln2},
		{Hypot(3*One, -4*One), 5 * One}, {Pow(Min, One), Min}, {Pow(-16*One, 5*One), Min}, {Pow(0, 0), One},
		{Pow(-2*One, -3*One), -One / 8}, {FromBigFloat(refPi), Pi}, {FromBigFloat(refExp(bigNum(1))), E},
		{FromBigFloat(refLn2), Ln2}, {FromBigFloat(quo(bigNum(1), refLn2)), Log2E},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
	if s, c := SinCos(One); s != Sin(One) || c != Cos(One) {
		t.Errorf("SinCos(1) = %v, %v", s, c)
	}
}

// TestIdentities checks identities at many more arguments than the reference could.
func TestIdentities(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range samples(300000) {
		x := randomQ43(r)
		s, c := SinCos(x)
		if one := s.Mul(s) + c.Mul(c); (one - One).Abs() > 3 {
			t.Fatalf("sin² + cos² = %v at %v", one, x)
		}
		if x > 0 {
			l := Log(x)
			if l < 13*One {
				y := Exp(l) // |ln x| is off by 0.51 units, which Exp makes x times as much
				if d := (y - x).Abs(); d > 1+(x>>FracBits) {
					t.Fatalf("Exp(Log(%v)) = %v", x, y)
				}
			}
		}
	}
}

func TestFunctionErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func() (Q43, error)
		want error
	}{
		{"Exp", func() (Q43, error) { return ExpChecked(14 * One) }, ErrRange},
		{"Exp at the end", func() (Q43, error) { return ExpChecked(FromBigFloat(mul(refLn2, bigNum(20))) + 1) }, ErrRange},
		{"Exp", func() (Q43, error) { return ExpChecked(Max) }, ErrRange},
		{"Exp2", func() (Q43, error) { return Exp2Checked(20 * One) }, ErrRange},
		{"Exp2", func() (Q43, error) { return Exp2Checked(Max) }, ErrRange},
		{"Log", func() (Q43, error) { return LogChecked(0) }, ErrDomain},
		{"Log", func() (Q43, error) { return LogChecked(-1) }, ErrDomain},
		{"Log2", func() (Q43, error) { return Log2Checked(Min) }, ErrDomain},
		{"Sqrt", func() (Q43, error) { return SqrtChecked(-1) }, ErrDomain},
		{"Hypot", func() (Q43, error) { return HypotChecked(Min, 0) }, ErrRange},
		{"Hypot", func() (Q43, error) { return HypotChecked(Max, Max) }, ErrRange},
		{"Pow", func() (Q43, error) { return PowChecked(2*One, 20*One) }, ErrRange},
		{"Pow", func() (Q43, error) { return PowChecked(Max, Max) }, ErrRange},
		{"Pow", func() (Q43, error) { return PowChecked(1, Min) }, ErrRange},
		{"Pow", func() (Q43, error) { return PowChecked(-One, One/2) }, ErrDomain},
		{"Pow", func() (Q43, error) { return PowChecked(0, -1) }, ErrDivideByZero},
	} {
		if v, err := c.f(); !errors.Is(err, c.want) || v != 0 {
			t.Errorf("%s: %v, %v, want %v", c.name, v, err, c.want)
		}
	}
	for name, f := range map[string]func(){
		"Exp": func() { Exp(14 * One) }, "Exp2": func() { Exp2(20 * One) }, "Log": func() { Log(0) },
		"Log2": func() { Log2(-1) }, "Sqrt": func() { Sqrt(-1) }, "Hypot": func() { Hypot(Max, Max) },
		"Pow": func() { Pow(-One, One/2) },
	} {
		mustPanic(t, name, f)
	}
	for _, c := range []struct {
		name    string
		f       func(Q43) Q43
		checked func(Q43) (Q43, error)
	}{{"Exp", Exp, ExpChecked}, {"Exp2", Exp2, Exp2Checked}, {"Log", Log, LogChecked}, {"Log2", Log2, Log2Checked}, {"Sqrt", Sqrt, SqrtChecked}} {
		if v, err := c.checked(3 * One); err != nil || v != c.f(3*One) {
			t.Errorf("%sChecked(3) = %v, %v", c.name, v, err)
		}
	}
	for _, x := range []Q43{Min, -46 * One, -45*One - 1} {
		if y, z := Exp(x), Exp2(x); y != 0 || z != 0 {
			t.Errorf("Exp(%v) = %v, Exp2 = %v", x, y, z)
		}
	}
}

func mustPanic(t *testing.T, name string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if recover() == nil {
			t.Errorf("%s did not panic", name)
		}
	}()
	f()
}

// TestExp2Top checks the largest fraction, where the sum of the table and the series is nearest to 2, and
// would overflow if it were more.
func TestExp2Top(t *testing.T) {
	if m, ok := exp2(19, uint128{}.sub(uint128{0, 1})); m != 1<<63 || !ok {
		t.Errorf("2^(20-2⁻¹²⁸) is %d", m)
	}
	for k := range 20 {
		if m, ok := exp2(k, uint128{}); m != 1<<(43+k) || !ok {
			t.Errorf("2^%d is %d", k, m)
		}
	}
}
