package ulog

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"revnum/fixed"
	"revnum/internal/long"
)

// roundTrip checks Parse(x.String()) == x, and Scan, JSON and text likewise.
func roundTrip[T Number](t *testing.T, x T) {
	t.Helper()
	s := fmt.Sprint(x)
	y, err := Parse[T](s)
	if err != nil || y != x {
		t.Errorf("%T %+v reads as %q and that as %+v (%v)", x, x, s, y, err)
	}
	var w T
	if n, err := fmt.Sscan(s, &w); n != 1 || err != nil || w != x {
		t.Errorf("%q is scanned as %+v (%v)", s, w, err)
	}
	data, err := json.Marshal(x)
	if err != nil {
		t.Errorf("%v: %v", x, err)
	}
	var z T
	if err := json.Unmarshal(data, &z); err != nil || z != x {
		t.Errorf("%v is %s in JSON and that %v (%v)", x, data, z, err)
	}
}

// roundTripLog is roundTrip for the numbers with the log l, and the Fixed of
// the same bits.
func roundTripLog(t *testing.T, l float64) {
	t.Helper()
	if l != l {
		return
	}
	roundTrip(t, Float64{l})
	roundTrip(t, Signed{l, true})
	roundTrip(t, Float32{float32(l)})
	roundTrip(t, Fixed{fixed.Q43(math.Float64bits(l))})
	if math.Abs(l) < 1<<20 {
		roundTrip(t, Fixed{fixed.FromFloat64(l)})
	}
}

var extremeFloats = []float64{0, negZero, 1, -1, math.Ln2, -math.Ln2, math.Ln10, 1e-5, -1e-5, 1e-300, -1e-300, 5e-324, -5e-324,
	0x1p-1022, 1e5, 1e15, 0x1p53, 0x1p53 - 1, 1 - 0x1p53, 0x1p24, 0x1p24 - 1, 1e16, -1e16, 1e300, math.MaxFloat64, -math.MaxFloat64,
	math.MaxFloat32, -math.MaxFloat32, inf, -inf, 709.78, 745.13, -745.13, 1000, 13075.123, 0x1p20 - 0x1p-33, math.Nextafter(0x1p10, 0), 0x1p10}

func TestRoundTrip(t *testing.T) {
	for _, l := range extremeFloats {
		roundTripLog(t, l)
	}
	for _, n := range extremeLogs {
		roundTrip(t, Fixed{fixed.Q43(n)})
	}
	roundTrip(t, fixedZero)
	rnd := rand.New(rand.NewPCG(23, 24))
	for range long.Or(1500, 300) {
		roundTripLog(t, math.Float64frombits(rnd.Uint64()))
		roundTripLog(t, math.Exp2(60*rnd.Float64()-10)*(rnd.Float64()-0.5))
	}
	if x, err := Parse[Float64]("NaN"); err != nil || !x.IsNaN() {
		t.Errorf("NaN reads as %v (%v)", x, err)
	}
}

// TestShortest checks that no decimal of fewer digits reads as the same number, and that the
// digits are those of e^log.
func TestShortest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(25, 26))
	for range 300 {
		x := Float64{math.Exp2(20*rnd.Float64()) * (rnd.Float64() - 0.5)}
		s := fmt.Sprintf("%.40e", x)
		short := x.String()
		digits := len(strings.TrimRight(strings.Split(strings.ReplaceAll(short, ".", ""), "e")[0], "0"))
		if strings.HasPrefix(short, "exp") {
			digits = maxShortest + 1
		} else if strings.HasPrefix(short, "0.") {
			digits = len(strings.TrimLeft(short, "0."))
		}
		if digits < 2 {
			continue
		}
		y, err := Parse[Float64](fmt.Sprintf("%.*e", digits-2, x))
		if err != nil || y == x {
			t.Errorf("%s = %s is not the shortest (%v)", short, s, err)
		}
	}
}

// TestFormat compares text of a given precision with that of a big.Float of 400 bits.
func TestFormat(t *testing.T) {
	rnd := rand.New(rand.NewPCG(27, 28))
	logs := []float64{0, 1e-300, -1e-300, 1e-9, 1, -1, 2.302585, 700, -700, 2300, -2300, 2400, -2400}
	for range long.Or(40, 10) {
		logs = append(logs, math.Exp2(14*rnd.Float64())*(rnd.Float64()-0.5))
	}
	for _, l := range logs {
		x := Float64{l}
		value := BigFloat(x, 4000)
		for _, verb := range []byte("efgEG") {
			for _, prec := range []int{0, 1, 2, 5, 17, 60} {
				have := fmt.Sprintf("%.*"+string(verb), prec, x)
				v := verb
				if verb == 'f' && math.Abs(l) >= maxPointed*math.Ln10 {
					v = 'e'
				}
				if want := value.Text(v, prec); have != want {
					t.Errorf("%%.%d%c of e^%v is %s, want %s", prec, verb, l, have, want)
				}
			}
		}
	}
	// For numbers that are exact in float64, the layout is that of float64.
	for _, v := range []float64{0, negZero, 1, -1, inf, -inf, math.NaN()} {
		x := NewSigned(v)
		for _, f := range []string{"%v", "%s", "%g", "%e", "%f", "%8.2f|", "%-8.2f|", "%+08.2f", "%08.3e", "% v", "%+v", "%G", "%E", "%F", "%12v|", "%-12v|", "%012v", "%.3g", "%.0f", "%.0e", "%+.1f", "% 8.1f"} {
			want := fmt.Sprintf(strings.ReplaceAll(f, "s", "v"), v)
			have := fmt.Sprintf(f, x)
			if v != v {
				want, have = strings.Trim(want, "+ "), strings.TrimSpace(have) // no sign
			}
			if have != want {
				t.Errorf("%s of %v is %q, want %q", f, v, have, want)
			}
		}
	}
	for _, c := range []struct{ format, want string }{
		{"%v", "1.234e+5678"}, {"%.2e", "1.23e+5678"}, {"%.3f", "1.234e+5678"}, {"%16v|", "     1.234e+5678|"},
		{"%016v", "000001.234e+5678"}, {"%G", "1.234E+5678"}, {"%d", "%!d(ulog.Fixed=1.234e+5678)"}, {"%+.4g", "+1.234e+5678"},
	} {
		x, err := Parse[Fixed]("1.234e+5678")
		if have := fmt.Sprintf(c.format, x); have != c.want || err != nil {
			t.Errorf("%s is %q, want %q (%v)", c.format, have, c.want, err)
		}
	}
	// Absurd precisions and numbers take finite time.
	for _, f := range []string{"%.100000e", "%.100000f", "%.100000g"} {
		for _, x := range []any{Float64{1}, Float64{9e15}, Float64{-9e15}, Float32{1e7}, Fixed{math.MaxInt64}} {
			if n := len(fmt.Sprintf(f, x)); n < 500 {
				t.Errorf("%s of %v has %d characters", f, x, n)
			}
		}
	}
}

// TestParseExact compares Parse with the logarithm of the value in math/big.
func TestParseExact(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 30))
	for range 1000 {
		digits := fmt.Sprint(rnd.Uint64() >> rnd.IntN(64))
		s := digits[:1] + "." + digits[1:] + "e" + fmt.Sprint(rnd.IntN(4000)-2000)
		if strings.HasPrefix(digits, "0") {
			continue
		}
		v, _, err := big.ParseFloat(s, 10, 4*refBits, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		l := refLog(v)
		want, _ := l.Float64()
		if x, err := Parse[Float64](s); err != nil || x.Log != want {
			t.Errorf("%s has the log %v (%v), want %v", s, x.Log, err, want)
		}
		want32, _ := l.Float32()
		if x, err := Parse[Float32](s); err != nil || x.Log != want32 {
			t.Errorf("%s has the log %v (%v), want %v", s, x.Log, err, want32)
		}
		if x, err := Parse[Fixed](s); err != nil || unitsOff(x, l) > 0.5 {
			t.Errorf("%s has the log %v (%v), want %v", s, x.Log, err, l)
		}
		if x, err := FromBig[Float64](v); err != nil || x.Log != want {
			t.Errorf("%s has the log %v (%v) from big, want %v", s, x.Log, err, want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		log  float64
		neg  bool
	}{
		{"1", 0, false}, {"+1.000", 0, false}, {"10e-1", 0, false}, {"0.00001e5", 0, false}, {"-1.e0", 0, true}, {".1e1", 0, false},
		{"0", -inf, false}, {"-0", -inf, true}, {"0e999999999999999999999", -inf, false}, {"0.000", -inf, false},
		{"Inf", inf, false}, {"-inf", inf, true}, {"+Infinity", inf, false}, {"exp(1)", 1, false}, {"-EXP(-1e300)", -1e300, true}, {"exp(+.5)", 0.5, false},
		{"1E10", 23.025850929940457, false}, {"1e-1000000", -2302585.0929940455, false}, {"1e1000000000000000000", 2.3025850929940457e18, false},
		{"1e" + strings.Repeat("9", 300), 2.3025850929940458e300, false},
		{"1" + strings.Repeat("0", 5000), 11512.925464970229, false}, {"0." + strings.Repeat("0", 4999) + "1", -11512.925464970229, false},
		{"1." + strings.Repeat("0", 299) + "1", 1e-300, false}, {"1." + strings.Repeat("0", 319) + "1", 1e-320, false},
		{"1." + strings.Repeat("0", 5000) + "1", 0, false}, {"0." + strings.Repeat("9", 3000), 0, false},
		{"2" + strings.Repeat("0", 100) + "e-100", math.Ln2, false},
	} {
		x, err := Parse[Signed](c.text)
		if err != nil || x != (Signed{c.log, c.neg}) {
			t.Errorf("%.40s has the log %v (%v), want %v", c.text, x.Log, err, c.log)
		}
	}
	for _, c := range []struct {
		text   string
		offset int
		want   error
	}{
		{"", 0, ErrSyntax}, {" 1", 0, ErrSyntax}, {"1 ", 1, ErrSyntax}, {"+", 1, ErrSyntax}, {".", 1, ErrSyntax}, {"1e", 2, ErrSyntax}, {"1e+", 3, ErrSyntax},
		{"1.2.3", 3, ErrSyntax}, {"0x10", 1, ErrSyntax}, {"1_0", 1, ErrSyntax}, {"e5", 0, ErrSyntax}, {"exp()", 4, ErrSyntax}, {"exp(1", 5, ErrSyntax}, {"exp(1))", 6, ErrSyntax},
		{"exp(inf)", 4, ErrSyntax}, {"infinityx", 0, ErrSyntax}, {"-nan", 1, ErrSyntax}, {"--1", 1, ErrSyntax}, {"1٣", 1, ErrSyntax}, {"\x00", 0, ErrSyntax},
		{"-1", 0, ErrNegative}, {"-inf", 0, ErrNegative}, {"1e" + strings.Repeat("9", 400), 0, ErrRange}, {"1e-" + strings.Repeat("9", 1000000), 0, ErrRange},
		{"exp(1e400)", 0, ErrRange}, {"exp(1e" + strings.Repeat("9", 1000) + ")", 0, ErrRange},
	} {
		for i, err := range []error{second(Parse[Float64](c.text)), second(Parse[Float32](c.text)), second(Parse[Fixed](c.text))} {
			var e *ParseError
			want := c.want
			if c.text == "-inf" && i == 2 {
				want = ErrNegative
			}
			if !errors.Is(err, want) || !errors.As(err, &e) || e.Text != c.text || e.Offset != c.offset || len(err.Error()) > 300 {
				t.Errorf("%.40q: %v, want %v at %d", c.text, err, want, c.offset)
			}
		}
	}
	for _, c := range []struct {
		text string
		want error
	}{{"Inf", ErrRange}, {"NaN", ErrNaN}, {"1e455391", ErrRange}, {"1e-455391", ErrRange}, {"1e455390", nil}, {"5.9e-455391", nil}, {"exp(1048576)", ErrRange}, {"exp(-1048576)", ErrRange}, {"exp(1048575.99999)", nil}, {"-0", nil}} {
		if x, err := Parse[Fixed](c.text); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s is %v (%v), want %v", c.text, x, err, c.want)
		}
	}
	if x, err := Parse[Float32]("1e-" + strings.Repeat("9", 50)); !errors.Is(err, ErrRange) || !x.IsZero() {
		t.Errorf("underflow gives %v (%v)", x, err)
	}
}

func TestJSON(t *testing.T) {
	type doc struct {
		A Float64
		B Float32
		C Fixed
		D Signed
		E map[Fixed]int
	}
	in := doc{Float64{13075.123}, Float32{-1e7}, NewFixed(0.25), NewSigned(-inf), map[Fixed]int{NewFixed(2): 1}}
	data, err := json.Marshal(in)
	if want := `{"A":2.84294924477e+5678,"B":2e-4342945,"C":0.25,"D":"-Inf","E":{"2":1}}`; err != nil || string(data) != want {
		t.Errorf("JSON is %s (%v), want %s", data, err, want)
	}
	var out doc
	if err := json.Unmarshal(data, &out); err != nil || out.A != in.A || out.B != in.B || out.C != in.C || out.D != in.D || out.E[NewFixed(2)] != 1 {
		t.Errorf("JSON %s reads as %+v (%v)", data, out, err)
	}
	for _, bad := range []string{`{"A":true}`, `{"A":"x"}`, `{"A":-1}`, `{"C":"Inf"}`, `{"A":[]}`, `{"B":{}}`, `{"D":"\ud800"}`} {
		before := out
		var e *ParseError
		if err := json.Unmarshal([]byte(bad), &out); !errors.As(err, &e) {
			t.Errorf("%s: %v", bad, err)
		}
		if out.A != before.A || out.C != before.C {
			t.Errorf("%s changed a number", bad)
		}
	}
	if err := json.Unmarshal([]byte(`{"A":null,"D":"3"}`), &out); err != nil || out.A != in.A || out.D != NewSigned(3) {
		t.Errorf("null reads as %v (%v)", out.A, err)
	}
}

func TestConvert(t *testing.T) {
	if x, err := Convert[Float64](Float32{1.5}); err != nil || x.Log != 1.5 {
		t.Errorf("%v (%v)", x, err)
	}
	if x, err := Convert[Fixed](Float64{1.5 + 0x1p-44}); err != nil || x.Log != 3<<42 {
		t.Errorf("tie: %d (%v)", x.Log, err)
	}
	if x, err := Convert[Fixed](Float64{1.5 + 0x3p-44}); err != nil || x.Log != 3<<42+2 {
		t.Errorf("tie: %d (%v)", x.Log, err)
	}
	if x, err := Convert[Float64](fixedZero); err != nil || !x.IsZero() {
		t.Errorf("%v (%v)", x, err)
	}
	if x, err := Convert[Fixed](Float64{-inf}); err != nil || !x.IsZero() {
		t.Errorf("%v (%v)", x, err)
	}
	if x, err := Convert[Signed](Fixed{math.MaxInt64}); err != nil || x.Log != 0x1p20 {
		t.Errorf("%v (%v)", x, err)
	}
	if x, err := Convert[Signed](Signed{1, true}); err != nil || x != (Signed{1, true}) {
		t.Errorf("%v (%v)", x, err)
	}
	for name, c := range map[string]struct{ err, want error }{
		"infinity":        {second(Convert[Fixed](Float64{inf})), ErrRange},
		"NaN":             {second(Convert[Fixed](Float64{math.NaN()})), ErrNaN},
		"large":           {second(Convert[Fixed](Float64{0x1p20})), ErrRange},
		"the reserved":    {second(Convert[Fixed](Float64{-0x1p20})), ErrRange},
		"larger":          {second(Convert[Fixed](Float64{-1e300})), ErrRange},
		"negative":        {second(Convert[Float64](NewSigned(-1))), ErrNegative},
		"out of float32":  {second(Convert[Float32](Float64{1e300})), ErrRange},
		"negative number": {second(FromBig[Fixed](big.NewFloat(-1))), ErrNegative},
		"big infinity":    {second(FromBig[Fixed](new(big.Float).SetInf(false))), ErrRange},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	// Every Q43 in range survives the way through text and big.Float.
	for _, n := range extremeLogs {
		x := Fixed{fixed.Q43(n)}
		if y, err := FromBig[Fixed](BigFloat(x, 128)); err != nil || y != x {
			t.Errorf("log %d comes back as %d (%v)", n, y.Log, err)
		}
	}
	for _, c := range []struct {
		x    Signed
		want string
	}{{NewSigned(0), "0"}, {NewSigned(negZero), "-0"}, {NewSigned(-inf), "-Inf"}, {Signed{1e10, false}, "+Inf"}, {Signed{1.489e9, false}, "+Inf"}, {Signed{-1.489e9, true}, "-0"}, {Signed{-1e10, true}, "-0"}, {Signed{1e300, true}, "-Inf"}, {Signed{0, true}, "-1"},
		{Signed{math.Ln2, true}, "-2"}} {
		if s := BigFloat(c.x, 40).Text('g', 10); s != c.want {
			t.Errorf("%v is %s, want %s", c.x, s, c.want)
		}
	}
	// 1.488e9/log 2 = 2146730220.84..., just in the range of big.Float.
	if e := BigFloat(Float64{1.488e9}, 64).MantExp(nil); e != 2146730221 {
		t.Errorf("e^1.488e9 has the exponent %d", e)
	}
	if x, err := FromBig[Signed](new(big.Float).SetMantExp(big.NewFloat(-1), -1000000000)); err != nil || !x.Neg || math.Abs(x.Log/(-1e9*math.Ln2)-1) > 1e-15 {
		t.Errorf("-2^-1e9 is %v (%v)", x, err)
	}
	func() {
		defer func() {
			if _, ok := recover().(big.ErrNaN); !ok {
				t.Error("BigFloat of NaN does not panic")
			}
		}()
		BigFloat(Float64{math.NaN()}, 0)
	}()
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1.234e+5678", "exp(1e300)", "-0", "Inf", "NaN", "1e-999999999999", ".5", "1.0000000000000000000000001", "exp(5e-324)", "0.999999"} {
		f.Add(s, 1.5, int64(1))
	}
	for _, l := range extremeFloats {
		f.Add("", l, int64(math.Float64bits(l)))
	}
	f.Fuzz(func(t *testing.T, s string, l float64, n int64) {
		if x, err := Parse[Float64](s); err == nil && !x.IsNaN() {
			roundTrip(t, x)
		}
		if x, err := Parse[Float32](s); err == nil && !x.IsNaN() {
			roundTrip(t, x)
		}
		if x, err := Parse[Signed](s); err == nil && !x.IsNaN() {
			roundTrip(t, x)
		}
		if x, err := Parse[Fixed](s); err == nil {
			roundTrip(t, x)
		}
		roundTripLog(t, l)
		roundTrip(t, Fixed{fixed.Q43(n)})
	})
}

func FuzzFixed(f *testing.F) {
	for _, a := range extremeLogs {
		f.Add(a, int64(3), int64(a))
	}
	f.Fuzz(func(t *testing.T, a, b, c int64) {
		checkFixed(t, a, b)
		// Sums that do not wrap.
		x, y := Fixed{fixed.Q43(a) >> 1}, Fixed{fixed.Q43(a)>>1 - fixed.Q43(c)>>1}
		if x.Log < y.Log {
			x, y = y, x
		}
		if e := unitsOff(x.Add(y), refSum(bigLogOf(x), bigLogOf(y), 1)); e > 0.502 {
			t.Errorf("logs %d and %d: sum off by %v units", x.Log, y.Log, e)
		}
		if x.Log != y.Log {
			if e := unitsOff(x.Sub(y), refSum(bigLogOf(x), bigLogOf(y), -1)); e > 0.53 {
				t.Errorf("logs %d and %d: difference off by %v units", x.Log, y.Log, e)
			}
		}
	})
}

func TestScan(t *testing.T) {
	for _, c := range []struct{ text, number, rest string }{
		{"1.5e2 kg", "1.5e2", " kg"},
		{"-0.25kg", "-0.25", "kg"},
		{"+.5i", "+.5", "i"},
		{"exp(-2.5)(a", "exp(-2.5)", "(a"},
		{" EXP(+1E3)exp", "exp(1000)", "exp"},
		{"-Infinity,", "-Inf", ","},
		{"\nNaN\n", "NaN", "\n"},
	} {
		var x Signed
		r := strings.NewReader(c.text)
		n, err := fmt.Fscan(r, &x)
		want, _ := Parse[Signed](c.number)
		rest := c.text[len(c.text)-r.Len():]
		if n != 1 || err != nil || x.String() != want.String() || rest != c.rest {
			t.Errorf("Fscan(%q): %d, %v: %v before %q, want %v before %q", c.text, n, err, x, rest, want, c.rest)
		}
	}
	var x, y Fixed
	seven, _ := Parse[Fixed]("7")
	if n, err := fmt.Sscanf("12345", "%2e%3G", &x, &y); n != 2 || err != nil || x.String() != "12" || y.String() != "345" {
		t.Errorf("Sscanf with widths: %d, %v: %v %v", n, err, x, y)
	}
	for _, c := range []struct{ text, format string }{{"x", "%v"}, {"", "%v"}, {"1e", "%g"}, {"exp(1", "%s"}, {"-1", "%f"}, {"inn", "%v"}, {"5", "%d"}} {
		x = seven
		if n, err := fmt.Sscanf(c.text, c.format, &x); n != 0 || err == nil || x != seven {
			t.Errorf("Sscanf(%q, %q): %d, %v, %v", c.text, c.format, n, err, x)
		}
	}
	broken := errors.New("broken")
	if _, err := fmt.Fscan(iotest.ErrReader(broken), &x); !errors.Is(err, broken) || x != seven {
		t.Errorf("Fscan of a broken reader: %v, %v", err, x)
	}
}
