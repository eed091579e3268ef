package suite_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"revnum/benchmarks/internal/machine"
	"revnum/benchmarks/internal/suite"
	"revnum/internal/jsonfile"
)

var testMachine = machine.Machine{Cores: 4, FMA64: 1e9, FMA32: 2e9, Reading: 1e9, Triad: 1e9}

// cubes is f(x) = Σ c·x³ with the derivative factor·c·x².
func cubes(factor float64) *suite.Problem {
	x, g := []float64{1, -2, 0.5}, make([]float64, 3)
	value := func() (s float64) {
		for _, v := range x {
			s += v * v * v
		}
		return s
	}
	var f float64
	workers := 1
	in := &suite.Instance{
		F: func() { f = value() },
		J: func() {
			f = value()
			for i, v := range x {
				g[i] = factor * v * v
			}
		},
		SetWorkers: func(w int) { workers = w },
		// Two workers give the same, three do not.
		Result: func() []float64 { return []float64{f + float64(workers/3)} },
		Derivative: func() float64 {
			return suite.CentralDifferences(value, [][]float64{x[:1], x[1:]}, [][]float64{g[:1], g[1:]}, 3)
		},
		RoundTrip: func() float64 { return 0 },
	}
	return &suite.Problem{
		Family: "cubes", Sizes: "n=3", Series: "cubes", Params: 3, FlopsF: 9, FlopsJ: 15, BytesF: 24, Workers: []int{1, 2, 3},
		New: func() (*suite.Instance, error) { return in, nil },
	}
}

func measure(t *testing.T, p *suite.Problem) []suite.Result {
	t.Helper()
	var rows []suite.Result
	if err := suite.Measure(p, time.Millisecond, func(r suite.Result) { rows = append(rows, r) }); err != nil {
		t.Fatal(err)
	}
	if len(rows) != suite.Rows([]*suite.Problem{p}) {
		t.Fatalf("%d rows, want %d", len(rows), suite.Rows([]*suite.Problem{p}))
	}
	report := suite.Report{Machine: testMachine, Results: rows}
	report.Compare()
	return report.Results
}

func TestMeasure(t *testing.T) {
	rows := measure(t, cubes(3))
	for i, r := range rows {
		if r.Workers != i+1 || !(r.F > 0) || !(r.J > 0) || r.Ratio != r.J/r.F {
			t.Errorf("row %d: %+v", i, r)
		}
		if want := 9 / r.F / (1e9 * float64(i+1)); !(math.Abs(r.PeakF-want) <= 1e-12*want) {
			t.Errorf("row %d: %v of the peak, want %v", i, r.PeakF, want)
		}
		if want := 24 / r.F / 1e9; !(math.Abs(r.Band-want) <= 1e-12*want) {
			t.Errorf("row %d: %v of the bandwidth, want %v", i, r.Band, want)
		}
		if !(r.Deriv < 1e-9) || r.Trip != 0 {
			t.Errorf("row %d: errors %v, %v", i, r.Deriv, r.Trip)
		}
	}
	if rows[0].SameBits != nil || !*rows[1].SameBits || *rows[2].SameBits {
		t.Errorf("same bits: %v, %v, %v, want none, true, false", rows[0].SameBits, *rows[1].SameBits, *rows[2].SameBits)
	}
	if !(rows[1].Speedup > 0) || rows[0].Speedup != 0 {
		t.Errorf("speedups %v, %v", rows[0].Speedup, rows[1].Speedup)
	}
}

// TestWrongGradient checks that the check finds a wrong gradient.
func TestWrongGradient(t *testing.T) {
	if e := measure(t, cubes(3.0001))[0].Deriv; !(e > 1e-5) {
		t.Errorf("the error of a wrong gradient is %v", e)
	}
	if e := measure(t, cubes(math.NaN()))[0].Deriv; !math.IsNaN(float64(e)) {
		t.Errorf("the error of a NaN gradient is %v", e)
	}
}

func TestCheck(t *testing.T) {
	ok := suite.Result{Family: "f", Sizes: "n=1", Workers: 2, F: 1, J: 1, Deriv: 1e-9, Trip: 0, SameBits: new(bool)}
	*ok.SameBits = true
	for name, c := range map[string]struct {
		edit func(r *suite.Result)
		want string
	}{
		"good":         {func(*suite.Result) {}, ""},
		"no gradient":  {func(r *suite.Result) { r.J, r.Deriv, r.Trip = 0, suite.Error(math.NaN()), suite.Error(math.NaN()) }, ""},
		"gradient":     {func(r *suite.Result) { r.Deriv = 1e-4 }, "f n=1, 2 workers: gradient error 1.0e-04"},
		"NaN gradient": {func(r *suite.Result) { r.Deriv = suite.Error(math.NaN()) }, "gradient error NaN"},
		"float32":      {func(r *suite.Result) { r.Deriv, r.Single = 1e-4, true }, ""},
		"round trip":   {func(r *suite.Result) { r.Trip = 1e-3 }, "round-trip error 1.0e-03"},
		"lost output":  {func(r *suite.Result) { r.Trip = suite.Error(math.NaN()) }, "round-trip error NaN"},
		"bits":         {func(r *suite.Result) { r.SameBits = new(bool) }, "not the bits of one worker"},
	} {
		r := ok
		c.edit(&r)
		report := suite.Report{Results: []suite.Result{ok, r}}
		err := report.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func TestCentralDifferencesRestore(t *testing.T) {
	x := []float64{1, 1. / 3, 1e-8}
	want := append([]float64(nil), x...)
	suite.CentralDifferences(func() float64 { return x[0] * x[1] * x[2] }, [][]float64{x}, [][]float64{{0, 0, 0}}, 2)
	if !suite.SameBits(x, want) {
		t.Errorf("x is %v after the check, want %v", x, want)
	}
}

func TestExtraMemory(t *testing.T) {
	var sink []byte
	in := &suite.Instance{F: func() { sink = make([]byte, 1<<20) }, J: func() { sink = make([]byte, 1<<21) }}
	if got := suite.ExtraMemory(in); got < 3<<20 || got > 3<<20+1<<16 {
		t.Errorf("%d bytes, want %d", got, 3<<20)
	}
	_ = sink
}

func TestTable(t *testing.T) {
	rows := measure(t, cubes(3))
	r := suite.Report{Machine: testMachine, Results: append(rows, suite.Result{Family: "exp", Sizes: "n=1000", Workers: 1, F: 1e-6, Deriv: suite.Error(math.NaN()), Trip: suite.Error(math.NaN()), Against: "math.Exp", AgainstTime: 6.5})}
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 5 || !strings.HasSuffix(lines[2], "same bits") || !strings.HasSuffix(lines[3], "OTHER BITS") || !strings.HasSuffix(lines[4], "6.5x math.Exp") {
		t.Errorf("the table is\n%s", b.String())
	}
	if err := jsonfile.Indented(r)(&b); err != nil {
		t.Error(err)
	}
}

// TestLoaded checks that the table tells its reader if the machine was loaded.
func TestLoaded(t *testing.T) {
	for _, c := range []struct {
		moved, lost float64
		want        string
	}{
		{0, 0, ""}, {0.09, 0.09, ""},
		{0.25, 0, "warning: these rates moved by 25% during the run: the machine has other work"},
		{0.02, 0.6, "warning: other programs took 60% of a core: the machine has other work"},
	} {
		m := testMachine
		m.Moved, m.Lost = c.moved, c.lost
		var b strings.Builder
		if err := suite.WriteMachine(&b, m); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, "warning") {
			t.Errorf("moved by %v, lost %v: %s", c.moved, c.lost, got)
		}
	}
}

// TestRatioTicks checks that the ticks of an axis surround what it shows.
func TestRatioTicks(t *testing.T) {
	for _, c := range []struct {
		low, high   float64
		first, last string
	}{{1, 4, "1", "4"}, {0.9, 5.2, "0.7", "7"}, {0.03, 6, "0.03", "7"}, {1, 7.5, "1", "10"}, {1, 101, "1", "150"}} {
		ticks, from, to := suite.RatioTicks(c.low, c.high)
		if first, last := ticks[0].Label, ticks[len(ticks)-1].Label; first != c.first || last != c.last {
			t.Errorf("from %v to %v: ticks from %s to %s, want %s to %s", c.low, c.high, first, last, c.first, c.last)
		}
		if !(from <= c.low && to >= c.high && from < ticks[0].Value && to > ticks[len(ticks)-1].Value) {
			t.Errorf("from %v to %v: the axis is from %v to %v", c.low, c.high, from, to)
		}
	}
}

func TestUnits(t *testing.T) {
	for s, want := range map[float64]string{640e-9: "640 ns", 21.9e-6: "21.9 µs", 0.00487: "4.87 ms", 1.07: "1.07 s"} {
		if got := suite.Seconds(s); got != want {
			t.Errorf("Seconds(%v) = %q, want %q", s, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 500: "500 B", 20 << 10: "20 KiB", 39 << 20: "39 MiB"} {
		if got := suite.Bytes(n); got != want {
			t.Errorf("bytes(%v) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int]string{3: "3", 1000: "1000", 10000: "10k", 2500000: "2.5M", 16392: "16392"} {
		if got := suite.Short(n); got != want {
			t.Errorf("short(%v) = %q, want %q", n, got, want)
		}
	}
}

// TestProblems draws every problem of the default suite that is small, and
// checks its gradient and its round trip.
func TestProblems(t *testing.T) {
	for _, p := range suite.Problems() {
		if p.FlopsF > 1e8 || p.Params > 1e6 || p.FlopsF > 1e7 && testing.Short() {
			continue
		}
		in, err := p.New()
		if err != nil {
			t.Errorf("%s: %v", p.Name(), err)
			continue
		}
		in.F()
		if in.J != nil {
			in.J()
		}
		derivative, roundTrip := 1e-6, 1e-12
		if p.Single {
			derivative, roundTrip = 1e-4, 1e-5
		}
		if in.Derivative != nil {
			if e := in.Derivative(); !(e < derivative) {
				t.Errorf("%s: gradient error %v", p.Name(), e)
			}
		}
		if in.RoundTrip != nil {
			if e := in.RoundTrip(); !(e < roundTrip) {
				t.Errorf("%s: round-trip error %v", p.Name(), e)
			}
		}
		if in.Against != nil {
			want := in.Result()
			want = append([]float64(nil), want...)
			in.Against()
			for i, v := range in.Result() {
				if !(math.Abs(v-want[i]) <= 1e-14*math.Abs(v)) {
					t.Fatalf("%s: F gives %v where %s gives %v", p.Name(), want[i], in.AgainstName, v)
				}
			}
		}
	}
}
