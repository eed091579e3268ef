package fixed

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

var (
	_ fmt.Formatter            = Q43(0)
	_ fmt.Stringer             = Q43(0)
	_ fmt.Scanner              = (*Q43)(nil)
	_ encoding.TextAppender    = Q43(0)
	_ encoding.TextMarshaler   = Q43(0)
	_ encoding.TextUnmarshaler = (*Q43)(nil)
	_ json.Marshaler           = Q43(0)
	_ json.Unmarshaler         = (*Q43)(nil)
)

func TestParse(t *testing.T) {
	half := "0.00000000000005684341886080801486968994140625" // 2⁻⁴⁴
	for _, c := range []struct {
		text string
		want Q43
	}{
		{"0", 0}, {"-0", 0}, {"+1", One}, {"1.", One}, {".5", One / 2}, {"-1.5e1", -15 * One}, {"15E-1", 3 * One / 2}, {"1e+2", 100 * One},
		{"0e999999999999999999999", 0}, {"1e-999999999", 0}, {"-1e-99999999999999999999", 0},
		{"-1048576", Min}, {"1048575.9999999999998863131622783839702606201171875", Max},
		{"-1048576.00000000000005", Min}, {"1048575.9999999999999", Max},
		{half, 0}, {half + "0000000000000000000000000000000000001", 1}, {"-" + half, 0}, {"-" + half + "1", -1},
		{"0.00000000000017053025658242404460906982421875", 2}, // 3·2⁻⁴⁴
		{"0." + strings.Repeat("0", 5000) + "1e5001", One}, {"1" + strings.Repeat("0", 5000) + "e-5000", One},
		{strings.Repeat("1", 1<<20) + "e-1048570", 111111*One + One/9}, // rounded down, as 1/9 is
		{"00000000000000000000000000000000000000000000000000000000000000000000001", One},
	} {
		if got, err := Parse(c.text); got != c.want || err != nil {
			t.Errorf("Parse(%.60q) = %d, %v, want %d", c.text, got, err, c.want)
		}
	}
}

func TestParseError(t *testing.T) {
	for _, c := range []struct {
		text   string
		offset int
		err    error
	}{
		{"", 0, ErrSyntax}, {"+", 1, ErrSyntax}, {"--1", 1, ErrSyntax}, {".", 1, ErrSyntax}, {"-.e1", 2, ErrSyntax}, {"1.2.3", 3, ErrSyntax},
		{" 1", 0, ErrSyntax}, {"1 ", 1, ErrSyntax}, {"1e", 2, ErrSyntax}, {"1e+", 3, ErrSyntax}, {"1e1.5", 3, ErrSyntax}, {"1_000", 1, ErrSyntax},
		{"0x10", 1, ErrSyntax}, {"NaN", 0, ErrSyntax}, {"Inf", 0, ErrSyntax}, {"-inf", 1, ErrSyntax}, {"１", 0, ErrSyntax}, {"1\x00", 1, ErrSyntax},
		{"1048576", 0, ErrRange}, {"-1048576.0000000000001", 0, ErrRange}, {"1048575.99999999999999", 0, ErrRange},
		{"1e7", 0, ErrRange}, {"1e999999999", 0, ErrRange}, {"-1e9999999999999999999999999", 0, ErrRange}, {strings.Repeat("9", 1e6), 0, ErrRange},
	} {
		_, err := Parse(c.text)
		var pe *ParseError
		if !errors.As(err, &pe) || pe.Offset != c.offset || !errors.Is(pe.Err, c.err) || pe.Text != c.text || !errors.Is(err, c.err) {
			t.Errorf("Parse(%.40q): %v, want %v at %d", c.text, err, c.err, c.offset)
		} else if m := err.Error(); len(m) > 200 || !strings.Contains(m, fmt.Sprint("byte ", c.offset)) {
			t.Errorf("Parse(%.40q): message %.300q", c.text, m)
		}
	}
	mustPanic(t, "MustParse", func() { MustParse("1e") })
}

func checkText(t *testing.T, x Q43) {
	t.Helper()
	s := x.String()
	if got, err := Parse(s); got != x || err != nil {
		t.Fatalf("Parse(%q) = %d, %v, want %d", s, got, err, x)
	}
	// No decimal with fewer digits after the point reads as x. No decimal with the same
	// number of digits is nearer.
	_, fraction, _ := strings.Cut(s, ".")
	if n := len(fraction); n > 0 {
		if shorter, err := Parse(x.BigFloat().Text('f', n-1)); err == nil && shorter == x {
			t.Fatalf("%q is not the shortest", s)
		}
		if nearest := x.BigFloat().Text('f', n); nearest != s {
			t.Fatalf("%q is not the nearest, %q is", s, nearest)
		}
	}
	if strings.Contains(s, ".") && strings.HasSuffix(s, "0") || strings.HasSuffix(s, ".") || s == "-0" {
		t.Fatalf("%d: String() = %q", x, s)
	}

	long := x.DecimalString()
	if v, ok := new(big.Rat).SetString(long); !ok || v.Cmp(x.Rat()) != 0 {
		t.Fatalf("DecimalString() = %q is not %v", long, x.Rat())
	}
	for _, text := range []string{long, fmt.Sprint(x), fmt.Sprintf("%g", x), fmt.Sprintf("%G", x), fmt.Sprintf("%.43f", x), fmt.Sprintf("%+.50e", x)} {
		var back Q43
		if n, err := fmt.Sscan(text, &back); n != 1 || err != nil || back != x {
			t.Fatalf("%d scans from %q as %d, %v", x, text, back, err)
		}
	}
	if v := fmt.Sprintf("%v", x); v != s {
		t.Fatalf("%%v writes %q, String %q", v, s)
	}
	js, err := json.Marshal(struct{ X Q43 }{x})
	var back struct{ X Q43 }
	if err == nil {
		err = json.Unmarshal(js, &back)
	}
	if err != nil || back.X != x {
		t.Fatalf("%d comes back from %s as %d, %v", x, js, back.X, err)
	}
	if text, err := x.AppendText([]byte("x=")); err != nil || string(text) != "x="+s {
		t.Fatalf("AppendText: %q, %v", text, err)
	}
}

func TestText(t *testing.T) {
	for _, x := range extremes {
		checkText(t, x)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range samples(5000) {
		checkText(t, randomQ43(r))
		checkText(t, FromFloat64(float64(r.IntN(100000))/1e4)) // short decimals
	}
}

func FuzzText(f *testing.F) {
	f.Add(int64(1))
	f.Add(int64(Min))
	f.Fuzz(func(t *testing.T, x int64) { checkText(t, Q43(x)) })
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1.5", "-1e-3", "1e999999999", "0.00000000000005684341886080801486968994140625", "1048576", "..", "1e+"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := Parse(s)
		if err != nil {
			var pe *ParseError
			if x != 0 || !errors.As(err, &pe) || pe.Offset < 0 || pe.Offset > len(s) {
				t.Fatalf("Parse(%q) = %v, %v", s, x, err)
			}
			if errors.Is(pe.Err, ErrSyntax) {
				if _, ok := new(big.Float).SetString(s); ok && strings.Trim(s, "0123456789+-.eE") == "" {
					t.Fatalf("Parse(%q): %v", s, err)
				}
				return
			}
		}
		// Compare with the exact value if the exponent is small enough to compute it.
		if i := strings.IndexAny(s, "eE"); len(s) < 200 && (i < 0 || len(s)-i < 5) {
			v, ok := new(big.Rat).SetString(s)
			if !ok {
				t.Fatalf("Parse(%q) = %v, and it is no number", s, x)
			}
			want := exact(new(big.Int).Lsh(v.Num(), FracBits), v.Denom())
			if inRange(want) != (err == nil) || err == nil && x != wrap(want) {
				t.Fatalf("Parse(%q) = %d, %v, want %d", s, x, err, want)
			}
		}
	})
}

// TestParseRandom parses decimals next to ties between two numbers.
func TestParseRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Int64Range(int64(Min)+1, int64(Max)-1).Draw(t, "x")
		tie := new(big.Rat).SetFrac(big.NewInt(2*(x/2)+1), big.NewInt(1<<(FracBits+1)))
		off := rapid.SampledFrom([]int64{-1, 0, 1}).Draw(t, "off")
		digits := rapid.IntRange(44, 120).Draw(t, "digits")
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
		v := new(big.Rat).Add(tie, new(big.Rat).SetFrac(big.NewInt(off), scale))
		s := v.FloatString(digits)
		got, err := Parse(s)
		want := exact(new(big.Int).Lsh(v.Num(), FracBits), v.Denom())
		if err != nil || got != wrap(want) {
			t.Fatalf("Parse(%q) = %d, %v, want %d", s, got, err, want)
		}
	})
}

// TestFormat checks that with a precision, a Q43 is written like the float64 of its value.
func TestFormat(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	values := []Q43{0, One, -One, One / 2, 3 * One / 2, 5 * One / 2, One / 1024, 1, -1, 1 << 20, 999999 * One, -100000 * One}
	for range 100 {
		values = append(values, Q43(r.Uint64())>>(11+r.IntN(50)))
	}
	for _, x := range values {
		for _, flags := range []string{"", "+", "-", " ", "0", "+0", "-+", "-0"} {
			for _, width := range []string{"", "1", "8", "30"} {
				for _, prec := range []string{".0", ".1", ".3", ".", ".17", ".45"} {
					for _, verb := range "eEfFgGv" {
						f := "%" + flags + width + prec + string(verb)
						if verb == 'v' && strings.Contains(flags, "+") {
							continue // asks package fmt for something else
						}
						if got, want := fmt.Sprintf(f, x), fmt.Sprintf(f, x.Float64()); got != want {
							t.Fatalf("%s of %d: %q, want %q", f, x, got, want)
						}
					}
				}
				for _, verb := range "eEfF" {
					f := "%" + flags + width + string(verb)
					if got, want := fmt.Sprintf(f, x), fmt.Sprintf(f, x.Float64()); got != want {
						t.Fatalf("%s of %d: %q, want %q", f, x, got, want)
					}
				}
			}
		}
	}
	for _, c := range []struct {
		format string
		x      Q43
		want   string
	}{
		{"%v", MustParse("0.1"), "0.1"}, {"%s", MustParse("-0.1"), "-0.1"}, {"%8v|", One / 4, "    0.25|"}, {"%-8v|", One / 4, "0.25    |"},
		{"%08v", -One / 4, "-0000.25"}, {"%+v", One / 4, "+0.25"}, {"%v", 1, "0.0000000000001"}, {"%g", 1, "1e-13"}, {"%G", -1, "-1E-13"},
		{"%g", MustParse("0.0001"), "0.0001"}, {"%g", MustParse("0.00001"), "1e-05"}, {"%g", 123456 * One, "123456"}, {"%g", 1000000 * One, "1e+06"},
		{"%g", MustParse("1000000.5"), "1.0000005e+06"}, {"%v", 1000000 * One, "1000000"}, {"%v", Min, "-1048576"}, {"%v", Max, "1048575.9999999999999"},
		{"%#v", 5, "fixed.Q43(5)"}, {"%d", One / 2, "%!d(fixed.Q43=0.5)"}, {"%g", 0, "0"}, {"%6g|", 0, "     0|"},
	} {
		if got := fmt.Sprintf(c.format, c.x); got != c.want {
			t.Errorf("%s of %d: %q, want %q", c.format, c.x, got, c.want)
		}
	}
	if s := Max.DecimalString(); s != "1048575.9999999999998863131622783839702606201171875" {
		t.Errorf("DecimalString of Max: %s", s)
	}
	if s := FromInt(100).DecimalString(); s != "100" {
		t.Errorf("DecimalString of 100: %s", s)
	}
}

func TestScan(t *testing.T) {
	var x, y Q43
	var s string
	if n, err := fmt.Sscanf("1.5e2 -0.25kg", "%g %f%s", &x, &y, &s); n != 3 || err != nil || x != 150*One || y != -One/4 || s != "kg" {
		t.Errorf("Sscanf: %d, %v: %v %v %v", n, err, x, y, s)
	}
	if n, err := fmt.Sscanf("12345", "%2v%3v", &x, &y); n != 2 || err != nil || x != 12*One || y != 345*One {
		t.Errorf("Sscanf with widths: %d, %v: %v %v", n, err, x, y)
	}
	for _, c := range []struct{ text, format string }{{"x", "%v"}, {"", "%v"}, {"1e", "%g"}, {"1048576", "%f"}, {"5", "%d"}} {
		x = 7
		if n, err := fmt.Sscanf(c.text, c.format, &x); n != 0 || err == nil || x != 7 {
			t.Errorf("Sscanf(%q, %q): %d, %v, %v", c.text, c.format, n, err, x)
		}
	}
	broken := errors.New("broken")
	if _, err := fmt.Fscan(iotest.ErrReader(broken), &x); !errors.Is(err, broken) || x != 7 {
		t.Errorf("Fscan of a broken reader: %v, %v", err, x)
	}
}

func TestJSON(t *testing.T) {
	type point struct {
		X, Y Q43
		M    map[Q43]Q43
	}
	in := point{MustParse("0.1"), -3 * One, map[Q43]Q43{One / 2: 1}}
	text, err := json.Marshal(in)
	if want := `{"X":0.1,"Y":-3,"M":{"0.5":0.0000000000001}}`; err != nil || string(text) != want {
		t.Errorf("Marshal: %s, %v, want %s", text, err, want)
	}
	out := point{X: 5}
	if err := json.Unmarshal([]byte(`{"X":null,"Y":-3e0,"M":{"5e-1":1e-13}}`), &out); err != nil || out.X != 5 || out.Y != in.Y || out.M[One/2] != 1 {
		t.Errorf("Unmarshal: %v, %v", out, err)
	}
	for _, bad := range []string{`{"X":"x"}`, `{"X":""}`, `{"X":1e9}`, `{"X":true}`, `{"X":[1]}`, `{"X":}`, `{"M":{"x":1}}`} {
		out := point{X: 5}
		if err := json.Unmarshal([]byte(bad), &out); err == nil || out.X != 5 {
			t.Errorf("Unmarshal(%s): %v, %v", bad, out, err)
		}
	}
	var buf bytes.Buffer
	if err := json.NewEncoder(&buf).Encode([]Q43{Min, Max}); err != nil || buf.String() != "[-1048576,1048575.9999999999999]\n" {
		t.Errorf("Encode: %q, %v", buf.String(), err)
	}
}
