package ulog

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/internal/long"
)

// refSum returns log(e^a ± e^b) for a >= b, to 200 bits beyond e^(b-a).
func refSum(a, b *big.Float, s int) *big.Float {
	d := new(big.Float).SetPrec(4*refBits).Sub(b, a)
	if s < 0 && d.MantExp(nil) < -60 {
		// 1 - e^d = -d - d²/2 - d³/6 has a small relative error
		sum, power := new(big.Float).Neg(d), new(big.Float).Set(d)
		for _, n := range []float64{2, 6} {
			power.Mul(power, d)
			sum.Sub(sum, new(big.Float).Quo(power, wide(n)))
		}
		return sum.Add(refLog(sum), a)
	}
	e := refExp(d)
	if s < 0 {
		e.Neg(e)
	}
	f := new(big.Float)
	if f.Abs(e).MantExp(nil) < -refBits/2 {
		// e - e²/2 has a small relative error
		sq := new(big.Float).Mul(e, e)
		f.Sub(e, sq.SetMantExp(sq, -1))
	} else {
		f = refLog(new(big.Float).SetPrec(4*refBits).Add(e, wide(1)))
	}
	return new(big.Float).SetPrec(4*refBits).Add(a, f)
}

// drawLogs returns logs a >= b of all sizes. They are often near each other, so that all
// branches of Add and Sub are tested.
func drawLogs(rnd *rand.Rand) (a, b float64) {
	size := math.Exp2(40*rnd.Float64() - 20)
	a = size * (2*rnd.Float64() - 1)
	switch rnd.IntN(5) {
	case 0:
		b = a - math.Exp2(-50*rnd.Float64())*size
	case 1:
		b = a - 800*rnd.Float64()
	case 2:
		b = math.Nextafter(a, math.Inf(-1))
	case 3:
		b = a - rnd.Float64()
		if s := math.Log1p(math.Exp(-rnd.Float64() * 3)); rnd.IntN(2) == 0 {
			a = -s // the result is near 1
			b = a + math.Log(math.Expm1(s))
		}
	default:
		b = size * (2*rnd.Float64() - 1)
	}
	if a < b {
		a, b = b, a
	}
	return a, b
}

// checkAddSub compares the sum and the difference of the numbers with the logs a >= b to
// math/big. It returns the errors as fractions of their bounds. A bound is the sum of half
// an ulp of the result, the error of the term log(1 ± e^-d), and the effect on it of the
// rounding of d = a - b.
func checkAddSub(t *testing.T, a, b float64) (parts [2]float64) {
	t.Helper()
	x, y := Float64{a}, Float64{b}
	if x.Add(y) != y.Add(x) {
		t.Errorf("logs %v and %v: the sum is not symmetric", a, b)
	}
	d := a - b
	if d > farApart {
		if x.Add(y) != x || x.Sub(y) != x {
			t.Errorf("logs %v and %v are far apart, but sum and difference are %v and %v", a, b, x.Add(y).Log, x.Sub(y).Log)
		}
		return parts
	}
	for i, have := range []float64{x.Add(y).Log, x.Sub(y).Log} {
		s := 1 - 2*i
		if s < 0 && a == b {
			if !math.IsInf(have, -1) {
				t.Errorf("difference of equal logs %v is %v", a, have)
			}
			continue
		}
		want := refSum(wide(a), wide(b), s)
		r, _ := want.Float64()
		term, _ := new(big.Float).Sub(want, wide(a)).Float64()
		slope := math.Exp(-d) / (1 + float64(s)*math.Exp(-d)) // |dterm/dd|
		if s < 0 {
			slope = math.Exp(-d) / -math.Expm1(-d)
		}
		bound := ulp(r)/2 + (1.5+0.5*float64(i))*ulp(term)
		if wide(d).Cmp(new(big.Float).Sub(wide(a), wide(b))) != 0 {
			bound += ulp(d) / 2 * slope
		}
		diff, _ := new(big.Float).Sub(wide(have), want).Float64()
		if parts[i] = math.Abs(diff) / bound; !(parts[i] <= 1) {
			t.Errorf("log(e^%v %+d·e^%v) = %v: error %g, bound %g", a, s, b, have, diff, bound)
		}
	}
	return parts
}

func TestAddSubFloat64(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	n := 3000
	if testing.Short() {
		n = 300
	}
	for range n {
		a, b := drawLogs(rnd)
		checkAddSub(t, a, b)
	}
	for _, a := range extremeFloats {
		for _, b := range extremeFloats {
			if !math.IsInf(a, 0) && !math.IsInf(b, 0) && a >= b {
				checkAddSub(t, a, b)
			}
		}
	}
}

func FuzzFloat64(f *testing.F) {
	f.Add(1.0, 0.5)
	f.Add(-math.Ln2, -math.Ln2)
	f.Add(1e-300, -1e-300)
	f.Fuzz(func(t *testing.T, a, d float64) {
		if b := a - math.Abs(d); b <= a && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
			checkAddSub(t, a, b)
		}
	})
}

func TestAddSubFloat32(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	worst := 0.0
	for range long.Or(3000, 500) {
		a64, b64 := drawLogs(rnd)
		a, b := float32(a64), float32(b64)
		for _, s := range []int{1, -1} {
			if a <= b && (s < 0 || a < b) {
				continue
			}
			want := refSum(wide(float64(a)), wide(float64(b)), s)
			r, _ := want.Float32()
			if math.Abs(float64(r)) < 0x1p-20*math.Abs(float64(a)) {
				continue
			}
			have := Float32{a}.Add(Float32{b}).Log
			if s < 0 {
				have = Float32{a}.Sub(Float32{b}).Log
			}
			diff, _ := new(big.Float).Sub(wide(float64(have)), want).Float64()
			abs := float32(math.Abs(float64(r)))
			u := float64(math.Nextafter32(abs, math.MaxFloat32)) - float64(abs)
			worst = max(worst, math.Abs(diff)/u)
		}
	}
	t.Logf("max error %.5f ulp", worst)
	if worst > 0.51 {
		t.Errorf("error %v ulp", worst)
	}
}

// bigLogOf returns the log of x as a big.Float.
func bigLogOf(x Fixed) *big.Float { return units(big.NewInt(int64(x.Log))).SetPrec(4 * refBits) }

// unitsOff returns |have - want| in units.
func unitsOff(have Fixed, want *big.Float) float64 {
	d := new(big.Float).Sub(bigLogOf(have), want)
	f, _ := d.Float64()
	return math.Abs(f) / unit
}

func TestAddSubFixed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	var add, sub float64
	for range long.Or(4000, 500) {
		a, b := drawLogs(rnd)
		if math.Abs(a) > 1e6 || math.Abs(b) > 1e6 {
			continue
		}
		x, y := Fixed{fixed.FromFloat64(a)}, Fixed{fixed.FromFloat64(b)}
		if rnd.IntN(8) == 0 {
			y = Fixed{x.Log - fixed.Q43(rnd.IntN(4)) - fixed.Q43(1)<<rnd.IntN(40)}
		}
		add = max(add, unitsOff(x.Add(y), refSum(bigLogOf(x), bigLogOf(y), 1)))
		if x.Add(y) != y.Add(x) {
			t.Fatalf("%v + %v is not symmetric", x, y)
		}
		if x != y {
			sub = max(sub, unitsOff(x.Sub(y), refSum(bigLogOf(x), bigLogOf(y), -1)))
		}
	}
	t.Logf("max error: Add %.5f, Sub %.5f units", add, sub)
	if add > 0.502 || sub > 0.53 {
		t.Errorf("errors: Add %v, Sub %v units", add, sub)
	}
}

func TestFixedConversions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	var in, out float64
	for range long.Or(2000, 500) {
		v := math.Abs(math.Float64frombits(rnd.Uint64()))
		if math.IsNaN(v) || math.IsInf(v, 0) || v == 0 {
			continue
		}
		if rnd.IntN(2) == 0 {
			v = 1 + rnd.Float64()*math.Exp2(-20*rnd.Float64())
		}
		x := NewFixed(v)
		in = max(in, unitsOff(x, refLog(wide(v))))
		x.Log = fixed.FromFloat64(rnd.Float64()*1416 - 708)
		out = max(out, errUlp(x.Float64(), refExp(bigLogOf(x))))
	}
	t.Logf("from float64: %.4f units; to float64: %.4f ulp", in, out)
	if in > 0.501 || out > 1 {
		t.Errorf("from float64: %v units, to float64: %v ulp", in, out)
	}
	for _, v := range []float64{5e-324, math.MaxFloat64, 0x1p-1022} {
		if e := unitsOff(NewFixed(v), refLog(wide(v))); e > 0.51 {
			t.Errorf("NewFixed(%g) is off by %v units", v, e)
		}
	}
	for _, c := range []struct {
		log  fixed.Q43
		want float64
	}{{math.MaxInt64, math.Inf(1)}, {-math.MaxInt64, 0}, {ZeroLog, 0}, {0, 1}, {710 << 43, math.Inf(1)}, {-746 << 43, 0}} {
		if have := (Fixed{c.log}).Float64(); have != c.want {
			t.Errorf("value of log %v is %v, want %v", c.log, have, c.want)
		}
	}
}

// order is the number of nonzero Fixed numbers, 2⁶⁴-1.
var order = new(big.Int).SetUint64(math.MaxUint64)

// residue returns the representative of n modulo 2⁶⁴-1 nearest to zero. It reports whether
// that is n.
func residue(n *big.Int) (int64, bool) {
	m := new(big.Int).Mod(n, order)
	if m.Cmp(big.NewInt(math.MaxInt64)) > 0 {
		m.Sub(m, order)
	}
	return m.Int64(), m.Cmp(n) == 0
}

var extremeLogs = []int64{0, 1, -1, 2, -2, 3, 1 << 42, 1 << 43, -1 << 43, 1 << 62, -1 << 62, 1<<62 + 1,
	math.MaxInt64, math.MaxInt64 - 1, -math.MaxInt64, -math.MaxInt64 + 1, 12345678901234567}

// checkFixed compares the exact operations of Fixed to big.Int.
func checkFixed(t *testing.T, a, b int64) {
	t.Helper()
	if a == math.MinInt64 || b == math.MinInt64 {
		return
	}
	x, y := Fixed{fixed.Q43(a)}, Fixed{fixed.Q43(b)}
	A, B := big.NewInt(a), big.NewInt(b)
	check := func(op string, have Fixed, err error, exact *big.Int) {
		t.Helper()
		want, fits := residue(exact)
		if int64(have.Log) != want || fits != (err == nil) || err != nil && !errors.Is(err, ErrRange) {
			t.Errorf("log %d %s %d: have %d (%v), want %d", a, op, b, int64(have.Log), err, want)
		}
	}
	r, err := x.MulChecked(y)
	check("*", r, err, new(big.Int).Add(A, B))
	if r != x.Mul(y) {
		t.Errorf("Mul and MulChecked of logs %d and %d differ", a, b)
	}
	r, err = x.DivChecked(y)
	check("/", r, err, new(big.Int).Sub(A, B))
	if r != x.Div(y) {
		t.Errorf("Div and DivChecked of logs %d and %d differ", a, b)
	}
	r, err = x.InvChecked()
	check("inverse", r, err, new(big.Int).Neg(A))
	r, err = x.PowIntChecked(b)
	check("^int", r, err, new(big.Int).Mul(A, B))
	// The power with a fraction: A·B/2^43, to nearest even.
	r, err = x.PowChecked(fixed.Q43(b))
	q, rem := new(big.Int).QuoRem(new(big.Int).Mul(A, B), big.NewInt(1<<43), new(big.Int))
	if c := rem.CmpAbs(big.NewInt(1 << 42)); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(int64(rem.Sign())))
	}
	check("^", r, err, q)
	// Apply an operation and its inverse.
	z := x
	z.MulAssign(y)
	z.DivAssign(y)
	z.DivAssign(y)
	z.MulAssign(y)
	z.MulPowAssign(y, a)
	z.DivPowAssign(y, a)
	if z != x {
		t.Errorf("log %d times and over %d is %d", a, b, int64(z.Log))
	}
	if err := z.PowAssign(b); (err == nil) != (b != 0 && new(big.Int).Mul(A, B).CmpAbs(big.NewInt(math.MaxInt64)) <= 0) {
		t.Errorf("log %d PowAssign(%d): %v", a, b, err)
	} else if err == nil {
		if err := z.RootAssign(b); err != nil {
			t.Error(err)
		}
	}
	if z != x {
		t.Errorf("log %d to the power %d and back is %d", a, b, int64(z.Log))
	}
	if err := z.RootAssign(b); (err == nil) != (b != 0 && a%b == 0) {
		t.Errorf("log %d RootAssign(%d): %v", a, b, err)
	} else if err == nil {
		if err := z.PowAssign(b); err != nil {
			t.Error(err)
		}
	}
	if z != x {
		t.Errorf("root %d of log %d and back is %d", b, a, int64(z.Log))
	}
	// √x has half the log, rounded to even.
	if h := int64(x.Sqrt().Log); 2*h != a && (h&1 != 0 || 2*h != a+1 && 2*h != a-1) {
		t.Errorf("half of log %d is %d", a, h)
	}
}

func TestFixedExact(t *testing.T) {
	for _, a := range extremeLogs {
		for _, b := range extremeLogs {
			checkFixed(t, a, b)
		}
	}
	rnd := rand.New(rand.NewPCG(13, 14))
	for range long.Or(5000, 1000) {
		checkFixed(t, int64(rnd.Uint64()), int64(rnd.Uint64()>>rnd.IntN(64)))
	}
}

// TestFixedProgram runs random programs in place forward and backward.
func TestFixedProgram(t *testing.T) {
	rnd := rand.New(rand.NewPCG(15, 16))
	for range 50 {
		x := make([]Fixed, 5)
		for i := range x {
			x[i].Log = fixed.Q43(rnd.Int64() - rnd.Int64())
		}
		start := append([]Fixed(nil), x...)
		b := fixed.NewBuffer(len(x))
		type step struct {
			op, i, j int
			n        int64
		}
		var prog []step
		for range 200 {
			s := step{rnd.IntN(5), rnd.IntN(5), rnd.IntN(4), rnd.Int64N(9) - 4}
			if s.j >= s.i {
				s.j++
			}
			var err error
			switch s.op {
			case 0:
				x[s.i].MulAssign(x[s.j])
			case 1:
				x[s.i].DivAssign(x[s.j])
			case 2:
				x[s.i].MulPowAssign(x[s.j], s.n)
			case 3:
				err = x[s.i].PowAssign(s.n)
			case 4:
				b.Mul(FixedLogs(x), 3, 7)
			}
			if err == nil {
				prog = append(prog, s)
			}
		}
		for k := len(prog) - 1; k >= 0; k-- {
			var err error
			switch s := prog[k]; s.op {
			case 0:
				x[s.i].DivAssign(x[s.j])
			case 1:
				x[s.i].MulAssign(x[s.j])
			case 2:
				x[s.i].DivPowAssign(x[s.j], s.n)
			case 3:
				err = x[s.i].RootAssign(s.n)
			case 4:
				b.Div(FixedLogs(x), 3, 7)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for i := range x {
			if x[i] != start[i] {
				t.Fatalf("element %d is %v, was %v", i, x[i], start[i])
			}
		}
	}
}

// TestFixedZero multiplies and divides zero, and raises it to powers. It also tests what
// panics.
func TestFixedZero(t *testing.T) {
	x := NewFixed(3)
	for _, c := range []struct {
		name       string
		have, want Fixed
	}{
		{"0·x", fixedZero.Mul(x), fixedZero}, {"x·0", x.Mul(fixedZero), fixedZero}, {"0/x", fixedZero.Div(x), fixedZero},
		{"0+x", fixedZero.Add(x), x}, {"x+0", x.Add(fixedZero), x}, {"0+0", fixedZero.Add(fixedZero), fixedZero},
		{"x-0", x.Sub(fixedZero), x}, {"x-x", x.Sub(x), fixedZero}, {"0-0", fixedZero.Sub(fixedZero), fixedZero},
		{"0^2", fixedZero.PowInt(2), fixedZero}, {"0^0", fixedZero.PowInt(0), fixedOne}, {"0^0.5", fixedZero.Pow(1 << 42), fixedZero},
		{"x^0", x.Pow(0), fixedOne}, {"√0", fixedZero.Sqrt(), fixedZero}, {"0", NewFixed(0), fixedZero}, {"-0", NewFixed(math.Copysign(0, -1)), fixedZero},
		{"tiny", Fixed{-math.MaxInt64}.Add(fixedZero), Fixed{-math.MaxInt64}},
		{"smallest + largest", Fixed{-math.MaxInt64}.Add(Fixed{math.MaxInt64}), Fixed{math.MaxInt64}},
		{"largest - smallest", Fixed{math.MaxInt64}.Sub(Fixed{-math.MaxInt64}), Fixed{math.MaxInt64}},
	} {
		if c.have != c.want {
			t.Errorf("%s is %v, want %v", c.name, c.have, c.want)
		}
	}
	z := fixedZero
	z.MulAssign(x)
	z.DivAssign(x)
	z.MulPowAssign(x, -3)
	if err := errors.Join(z.PowAssign(3), z.RootAssign(3)); z != fixedZero || err != nil {
		t.Errorf("zero became %v (%v)", z, err)
	}
	for _, c := range []struct {
		name string
		f    func()
		want error
	}{
		{"x/0", func() { x.Div(fixedZero) }, ErrDivideByZero},
		{"0/0", func() { fixedZero.Div(fixedZero) }, ErrDivideByZero},
		{"1/0", func() { fixedZero.Inv() }, ErrDivideByZero},
		{"0^-1", func() { fixedZero.PowInt(-1) }, ErrDivideByZero},
		{"0^-0.5", func() { fixedZero.Pow(-1 << 42) }, ErrDivideByZero},
		{"1-3", func() { fixedOne.Sub(x) }, ErrNegative},
		{"0-3", func() { fixedZero.Sub(x) }, ErrNegative},
		{"x *= 0", func() { z := x; z.MulAssign(fixedZero) }, ErrDivideByZero},
		{"x /= 0", func() { z := x; z.DivAssign(fixedZero) }, ErrDivideByZero},
		{"x *= 0^2", func() { z := x; z.MulPowAssign(fixedZero, 2) }, ErrDivideByZero},
		{"x /= 0^0", func() { z := x; z.DivPowAssign(fixedZero, 0) }, ErrDivideByZero},
		{"number of -1", func() { NewFixed(-1) }, ErrNegative},
		{"number of -Inf", func() { NewFixed(math.Inf(-1)) }, ErrNegative},
		{"number of Inf", func() { NewFixed(math.Inf(1)) }, ErrRange},
		{"number of NaN", func() { NewFixed(math.NaN()) }, ErrNaN},
		{"number of -1 in Q43", func() { NewFixedQ43(-1) }, ErrNegative},
		{"e^1000 in Q43", func() { (Fixed{1000 << 43}).Q43() }, ErrRange},
	} {
		func() {
			defer func() {
				if err, _ := recover().(error); !errors.Is(err, c.want) {
					t.Errorf("%s panics with %v, want %v", c.name, err, c.want)
				}
			}()
			c.f()
		}()
	}
	for name, err := range map[string]error{
		"0 ^= -1":       z.PowAssign(-1),
		"0 ^= 1/-1":     z.RootAssign(-1),
		"x ^= 1/0":      x.RootAssign(0),
		"0 ^= 1/0":      z.RootAssign(0),
		"0 ^ -1":        second(fixedZero.PowIntChecked(-1)),
		"0 ^ -1 (Q43)":  second(fixedZero.PowChecked(-1)),
		"1 / 0 checked": second(fixedZero.InvChecked()),
	} {
		if !errors.Is(err, ErrDivideByZero) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (Fixed{math.MaxInt64}).AddChecked(Fixed{math.MaxInt64}); !errors.Is(err, ErrRange) {
		t.Errorf("largest + largest: %v", err)
	}
	if _, err := (Fixed{-math.MaxInt64 + 1}).SubChecked(Fixed{-math.MaxInt64}); !errors.Is(err, ErrRange) {
		t.Errorf("difference of the smallest: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestQ43(t *testing.T) {
	for _, v := range []float64{0, 1, 2.5, 1e5, 1e-10, 0x1p-43} {
		q := fixed.FromFloat64(v)
		x := NewFixedQ43(q)
		if q > 0 {
			if e := unitsOff(x, refLog(wide(q.Float64()))); e > 0.51 {
				t.Errorf("log of %v is off by %v units", q, e)
			}
		}
		if back := x.Q43(); math.Abs(float64(back-q)) > 0.52+float64(q)*unit {
			t.Errorf("%v became %v", q, back)
		}
	}
}
