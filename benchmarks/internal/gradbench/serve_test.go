package gradbench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"revnum/benchmarks/internal/problem"
	"revnum/internal/long"
	"revnum/revmodels/gmm"
)

// answered has the fields that a response may hold.
type answered struct {
	ID      *int            `json:"id"`
	Tool    string          `json:"tool"`
	Success *bool           `json:"success"`
	Error   string          `json:"error"`
	Output  json.RawMessage `json:"output"`
	Timings []struct {
		Name        string `json:"name"`
		Nanoseconds int64  `json:"nanoseconds"`
	} `json:"timings"`
}

// talk sends messages, one per line, and returns the answers.
func talk(t *testing.T, messages ...string) []answered {
	t.Helper()
	return talkTo(t, &Revnum, messages...)
}

// talkTo sends messages to a tool and returns its answers.
func talkTo(t *testing.T, tool *Tool, messages ...string) []answered {
	t.Helper()
	var out bytes.Buffer
	if err := tool.serve(strings.NewReader(strings.Join(messages, "\n")), &out, 1, 1<<20); err != nil {
		t.Fatal(err)
	}
	var answers []answered
	for line := range strings.Lines(out.String()) {
		var a answered
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("answer %q: %v", line, err)
		}
		answers = append(answers, a)
	}
	if len(answers) != len(messages) {
		t.Fatalf("%d answers to %d messages: %s", len(answers), len(messages), out.String())
	}
	return answers
}

func TestSession(t *testing.T) {
	var out bytes.Buffer
	in := `{ "id": 0, "kind": "start", "eval": "hello" }
{ "id": 1, "kind": "define", "module": "hello" }
{ "id": 2, "kind": "analysis", "of": 1, "valid": true }

{ "id": 3, "kind": "no such kind" }
{ "id": 4, "kind": "define", "module": "nothing" }`
	if err := Revnum.Serve(strings.NewReader(in), &out, 1); err != nil {
		t.Fatal(err)
	}
	want := `{"id":0,"tool":"revnum"}
{"id":1,"success":true}
{"id":2}
{"id":3}
{"id":4,"success":false,"error":"unknown module \"nothing\"; there are ` + Revnum.Modules() + `"}
`
	if out.String() != want {
		t.Errorf("answered\n%swant\n%s", out.String(), want)
	}
}

func TestHello(t *testing.T) {
	for _, c := range []struct{ function, input, want string }{
		{"square", "3", "9.0"}, {"double", "9", "18.0"}, {"square", "-1.5", "2.25"},
	} {
		a := talk(t, `{"id":7,"kind":"evaluate","module":"hello","function":"`+c.function+`","input":`+c.input+`}`)[0]
		if a.ID == nil || *a.ID != 7 || a.Success == nil || !*a.Success || string(a.Output) != c.want ||
			len(a.Timings) != 1 || a.Timings[0].Name != "evaluate" || a.Timings[0].Nanoseconds < 0 {
			t.Errorf("%s(%s): %+v, want %s", c.function, c.input, a, c.want)
		}
	}
}

func TestRepetitions(t *testing.T) {
	input := func(runs string) string {
		return `{"id":1,"kind":"evaluate","module":"gmm","function":"objective","input":` +
			strings.Replace(gmmInput, "{", "{"+runs, 1) + `}`
	}
	for runs, want := range map[string]int{
		``: 1, `"min_runs":0,`: 1, `"min_runs":5,`: 5, `"min_runs":3,"min_seconds":0,`: 3, `"min_runs":3.0,`: 3, `"min_runs":4e0,`: 4,
	} {
		a := talk(t, input(runs))[0]
		if len(a.Timings) != want {
			t.Errorf("%s gives %d timings, want %d: %s", runs, len(a.Timings), want, a.Error)
		}
	}
	a := talk(t, input(`"min_runs":1,"min_seconds":0.02,`))[0]
	var sum int64
	for _, v := range a.Timings {
		sum += v.Nanoseconds
	}
	if last := a.Timings[len(a.Timings)-1].Nanoseconds; sum < 20e6 || sum-last >= 20e6 {
		t.Errorf("min_seconds of 0.02: stopped after %d ns, %d before the last run", sum, sum-last)
	}
}

const gmmInput = `{"d":2,"k":2,"n":3,"x":[[1,1],[2,-0.25],[3,3]],"m":2,"gamma":1.5,"alpha":[0.5,-1],` +
	`"mu":[[1,2],[3,4]],"q":[[0.1,0.2],[0.4,0.5]],"l":[[0.3],[0.6]]}`

// gmmProblem is the problem of gmmInput.
var gmmProblem = &problem.GMM{
	D: 2, K: 2, N: 3, Params: []float64{0.5, -1, 1, 2, 3, 4, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6},
	X: []float64{1, 1, 2, -0.25, 3, 3}, Gamma: 1.5, M: 2,
}

// gmmReference evaluates the objective from the densities of the normal and
// the Wishart distributions in two dimensions, nothing simplified.
func gmmReference(p *problem.GMM) float64 {
	var phi, sum float64
	parts := p.Parameters()
	for _, a := range parts.Alpha.Data {
		sum += math.Exp(a)
	}
	precision := func(k int) (a, b, c float64) { // QᵀQ = [a b; b c]
		f := parts.Factors.Row(k)
		q11, q22, q21 := math.Exp(f[0]), math.Exp(f[1]), f[2]
		return q11*q11 + q21*q21, q21 * q22, q22 * q22
	}
	posterior := 0.0
	for i := range p.N {
		density := 0.0
		for k := range p.K {
			phi = math.Exp(parts.Alpha.Data[k]) / sum
			a, b, c := precision(k)
			mean := parts.Means.Row(k)
			u, v := p.X[2*i]-mean[0], p.X[2*i+1]-mean[1]
			density += phi * math.Exp(-(a*u*u+2*b*u*v+c*v*v)/2) * math.Sqrt(a*c-b*b) / (2 * math.Pi)
		}
		posterior += math.Log(density)
	}
	n, g2 := float64(3+p.M), p.Gamma*p.Gamma
	for k := range p.K {
		a, b, c := precision(k)
		det, gamma := a*c-b*b, math.Sqrt(math.Pi)*math.Gamma(n/2)*math.Gamma((n-1)/2)
		posterior += math.Log(math.Pow(det, (n-3)/2) * math.Exp(-g2*(a+c)/2) / (math.Pow(2, n) * math.Pow(g2, -n) * gamma))
	}
	return posterior
}

func TestGMM(t *testing.T) {
	a := talk(t, `{"id":1,"kind":"evaluate","module":"gmm","function":"objective","input":`+gmmInput+`}`,
		`{"id":2,"kind":"evaluate","module":"gmm","function":"jacobian","input":`+gmmInput+`}`)
	var value float64
	if err := json.Unmarshal(a[0].Output, &value); err != nil {
		t.Fatal(err, a[0].Error)
	}
	if want := gmmReference(gmmProblem); !(math.Abs(value-want) <= 1e-12*math.Abs(want)) {
		t.Errorf("objective %v, want %v", value, want)
	}

	var jac struct {
		Alpha []float64   `json:"alpha"`
		Mu    [][]float64 `json:"mu"`
		Q     [][]float64 `json:"q"`
		L     [][]float64 `json:"l"`
	}
	dec := json.NewDecoder(bytes.NewReader(a[1].Output))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&jac); err != nil {
		t.Fatal(err, a[1].Error)
	}
	got := append([]float64(nil), jac.Alpha...)
	for _, row := range jac.Mu {
		got = append(got, row...)
	}
	for k := range jac.Q {
		got = append(append(got, jac.Q[k]...), jac.L[k]...)
	}
	// Central differences of the reference.
	x := gmmProblem.Params
	for i, v := range x {
		const h = 1e-5
		x[i] = v + h
		up := gmmReference(gmmProblem)
		x[i] = v - h
		down := gmmReference(gmmProblem)
		x[i] = v
		if want := (up - down) / (2 * h); i >= len(got) || !(math.Abs(got[i]-want) <= 1e-7*math.Max(1, math.Abs(want))) {
			t.Errorf("entry %d of the gradient %v, want %v", i, got, want)
		}
	}
	if len(got) != len(x) {
		t.Errorf("the gradient has %d numbers, want %d", len(got), len(x))
	}
}

// TestGMMSign checks that the prior is GradBench's, not ADBench's.
func TestGMMSign(t *testing.T) {
	o := problem.NewGMMObjective[float64](gmmProblem, gmm.ADBench, 1)
	if want := gmmReference(gmmProblem); math.Abs(o.Value()-want) < 1 {
		t.Errorf("the two signs give %v and %v", o.Value(), want)
	}
}

// numberOf and array read the output of an answer.
func numberOf(t *testing.T, a answered) (v float64) {
	t.Helper()
	if err := json.Unmarshal(a.Output, &v); err != nil {
		t.Fatal(err, a.Error)
	}
	return v
}

func array(t *testing.T, a answered) (v []float64) {
	t.Helper()
	if err := json.Unmarshal(a.Output, &v); err != nil {
		t.Fatal(err, a.Error)
	}
	return v
}

func TestLSE(t *testing.T) {
	x := []float64{0.5, -3, 1000, 999.5, 998}
	in, _ := json.Marshal(x)
	a := talk(t, `{"id":1,"kind":"evaluate","module":"lse","function":"primal","input":{"x":`+string(in)+`,"min_runs":3}}`,
		`{"id":2,"kind":"evaluate","module":"lse","function":"gradient","input":{"x":`+string(in)+`,"min_runs":3}}`)
	var sum float64
	for _, v := range x {
		sum += math.Exp(v - 1000)
	}
	if got, want := numberOf(t, a[0]), 1000+math.Log(sum); !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("primal %v, want %v", got, want)
	}
	got := array(t, a[1])
	if len(got) != len(x) {
		t.Fatalf("gradient %v, want %d numbers", got, len(x))
	}
	for i, v := range x {
		if want := math.Exp(v-1000) / sum; !(math.Abs(got[i]-want) <= 1e-14) {
			t.Errorf("gradient[%d] = %v, want %v", i, got[i], want)
		}
	}
	if len(a[0].Timings) != 3 || len(a[1].Timings) != 3 {
		t.Errorf("%d and %d timings, want 3", len(a[0].Timings), len(a[1].Timings))
	}
}

// TestLLSQ compares with loops that follow the definition, for an odd number of points
// (one of them is 0) and an even one.
func TestLLSQ(t *testing.T) {
	for _, n := range []int{2, 7, 500} {
		x := make([]float64, 20)
		for j := range x {
			x[j] = math.Sin(float64(j + 1))
		}
		want, grad := 0., make([]float64, len(x))
		for i := range n {
			ti := -1 + float64(i)*2/float64(n-1)
			r := 0.
			if ti != 0 {
				r = math.Copysign(1, ti)
			}
			for j, c := range x {
				r -= c * math.Pow(ti, float64(j))
			}
			want += r * r / 2
			for j := range x {
				grad[j] -= r * math.Pow(ti, float64(j))
			}
		}
		in, _ := json.Marshal(map[string]any{"x": x, "n": n})
		a := talk(t, `{"id":1,"kind":"evaluate","module":"llsq","function":"primal","input":`+string(in)+`}`,
			`{"id":2,"kind":"evaluate","module":"llsq","function":"gradient","input":`+string(in)+`}`)
		if got := numberOf(t, a[0]); !(math.Abs(got-want) <= 1e-12*want) {
			t.Errorf("n = %d: primal %v, want %v", n, got, want)
		}
		got := array(t, a[1])
		if len(got) != len(x) {
			t.Fatalf("n = %d: gradient %v, want %d numbers", n, got, len(x))
		}
		for j := range x {
			if !(math.Abs(got[j]-grad[j]) <= 1e-12*math.Max(1, math.Abs(grad[j]))) {
				t.Errorf("n = %d: gradient[%d] = %v, want %v", n, j, got[j], grad[j])
			}
		}
	}
}

// TestWorkers compares the outputs for problems that are shared among workers,
// bit for bit.
func TestWorkers(t *testing.T) {
	x := make([]float64, 100_000)
	for i := range x {
		x[i] = 30 * math.Sin(float64(i*i))
	}
	lse, _ := json.Marshal(map[string]any{"x": x})
	llsq, _ := json.Marshal(map[string]any{"x": x[:40], "n": 20_001})
	var messages strings.Builder
	for _, function := range []string{"primal", "gradient"} {
		fmt.Fprintf(&messages, `{"id":1,"kind":"evaluate","module":"lse","function":%q,"input":%s}`+"\n", function, lse)
		fmt.Fprintf(&messages, `{"id":2,"kind":"evaluate","module":"llsq","function":%q,"input":%s}`+"\n", function, llsq)
	}
	var want []string
	for workers := 1; workers <= 7; workers += long.Or(1, 6) {
		var out bytes.Buffer
		if err := Revnum.Serve(strings.NewReader(messages.String()), &out, workers); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(out.String()) {
			var a answered
			if err := json.Unmarshal([]byte(line), &a); err != nil || a.Success == nil || !*a.Success {
				t.Fatalf("%d workers: answer %.200q, %v", workers, line, err)
			}
			got = append(got, string(a.Output))
		}
		if want == nil {
			want = got
		}
		if len(got) != 4 || !slices.Equal(got, want) {
			t.Errorf("%d workers: the outputs are not those of one", workers)
		}
	}
}

// TestTrouble sends messages that have no answer. After each it sends one that has.
func TestTrouble(t *testing.T) {
	evaluate := func(module, function, input string) string {
		return `{"id":5,"kind":"evaluate","module":"` + module + `","function":"` + function + `","input":` + input + `}`
	}
	edit := func(old, to string) string {
		if !strings.Contains(gmmInput, old) {
			t.Fatalf("%q is not in the input", old)
		}
		return evaluate("gmm", "jacobian", strings.Replace(gmmInput, old, to, 1))
	}
	for _, c := range []struct {
		message, want string
		noID          bool
	}{
		{message: `{"id":5,"kind":"evaluate","module":`, want: "unexpected end of JSON input"},
		{message: `{"id":5,"kind":"evaluate" "module":"gmm"}`, want: "the message: invalid character"},
		{message: `{"kind":"start","x":{"id":1},"id":5,]`, want: "the message: invalid character"},
		{message: `nonsense`, want: "the message: invalid character", noID: true},
		{message: `[1,2]`, want: "the message: json: cannot unmarshal array", noID: true},
		{message: `null`, want: "expected a number as id", noID: true},
		{message: `{"kind":"start"}`, want: "expected a number as id", noID: true},
		{message: `{"id":"five","kind":"start"}`, want: "expected a number as id", noID: true},
		{message: `{"id":null,"kind":"start"}`, want: "expected a number as id", noID: true},
		{message: `{"id":5}`, want: `the field "kind" is missing`},
		{message: `{"id":5,"kind":7}`, want: "the message: json: cannot unmarshal number"},
		{message: `{"id":5,"kind":"define"}`, want: `the field "module" is missing`},
		{message: `{"id":5,"kind":"define","module":"no_such"}`, want: `unknown module "no_such"; there are `},
		{message: `{"id":5,"kind":"evaluate","function":"objective","input":{}}`, want: `the field "module" is missing`},
		{message: `{"id":5,"kind":"evaluate","module":"gmm","input":{}}`, want: `the field "function" is missing`},
		{message: `{"id":5,"kind":"evaluate","module":"gmm","function":"objective"}`, want: `the field "input" is missing`},
		{message: evaluate("no_such", "objective", "{}"), want: `unknown module "no_such"`},
		{message: evaluate("gmm", "hessian", "{}"), want: `unknown function "hessian"; module gmm has jacobian, objective`},
		{message: evaluate("hello", "square", `"x"`), want: "the input: "},
		{message: evaluate("hello", "square", `[]`), want: "the input: "},
		{message: evaluate("hello", "square", `1e999`), want: "the input: "},
		{message: evaluate("hello", "square", `1e300`), want: "the result is +Inf"},
		{message: evaluate("gmm", "objective", `{}`), want: `the input: the field "d" is missing`},
		{message: evaluate("gmm", "objective", `[]`), want: `the input: json: cannot unmarshal array`},
		{message: edit(`"gamma":1.5,`, ``), want: `the input: the field "gamma" is missing`},
		{message: edit(`"l":[[0.3],[0.6]]`, `"l":null`), want: `the input: the field "l" is missing`},
		{message: edit(`"d":2`, `"d":-2`), want: "expected positive d, k and n, found -2"},
		{message: edit(`"d":2`, `"d":2.5`), want: "the input: json: cannot unmarshal number 2.5"},
		{message: edit(`"d":2`, `"d":4611686018427387904`), want: "the input: "},
		{message: edit(`"n":3`, `"n":1000000000`), want: "x: expected 1000000000 rows, found 3"},
		{message: edit(`"k":2`, `"k":3`), want: "alpha: expected k = 3 numbers, found 2"},
		{message: edit(`[2,-0.25]`, `[2]`), want: "x[1]: expected 2 numbers, found 1"},
		{message: edit(`[2,-0.25]`, `[2,null]`), want: "expected a number as entry 1, found null"},
		{message: edit(`[2,-0.25]`, `[2,"-0.25"]`), want: `expected a number as entry 1, found`},
		{message: edit(`[2,-0.25]`, `[2,1e999]`), want: `value out of range`},
		{message: edit(`[2,-0.25]`, `[2,NaN]`), want: `invalid character 'N'`},
		{message: edit(`[2,-0.25]`, `7`), want: `expected an array of numbers, found 7`},
		{message: edit(`"m":2`, `"m":-1`), want: "expected m of at least 0 and a positive gamma, found -1"},
		{message: edit(`"gamma":1.5`, `"gamma":0`), want: "expected m of at least 0 and a positive gamma, found 2 and 0"},
		{message: edit(`"q":[[0.1,`, `"q":[[1000,`), want: "which JSON cannot hold"},
		{message: evaluate("lse", "primal", `{}`), want: `the input: the field "x" is missing`},
		{message: evaluate("lse", "gradient", `{"x":[]}`), want: "x: expected at least one number"},
		{message: evaluate("lse", "gradient", `{"x":[1,[2]]}`), want: "expected a number as entry 1, found [2]"},
		{message: evaluate("llsq", "primal", `{"x":[1]}`), want: `the input: the field "n" is missing`},
		{message: evaluate("llsq", "primal", `{"n":3}`), want: `the input: the field "x" is missing`},
		{message: evaluate("llsq", "gradient", `{"x":[],"n":3}`), want: "x: expected at least one number"},
		{message: evaluate("llsq", "gradient", `{"x":[1],"n":1}`), want: "n: expected 2 to 67108864 points, found 1"},
		{message: evaluate("llsq", "gradient", `{"x":[1],"n":-3}`), want: "n: expected 2 to 67108864 points, found -3"},
		{message: evaluate("llsq", "gradient", `{"x":[1],"n":1000000000000}`), want: "the input: "},
		{message: evaluate("llsq", "primal", `{"x":[1e300],"n":3}`), want: "the result is +Inf"},
		{message: edit(`"m":2`, `"m":2,"min_runs":-1`), want: "min_runs: expected 0 to 1000000000, found -1"},
		{message: edit(`"m":2`, `"m":2,"min_runs":10000000000`), want: "min_runs: expected 0 to 1000000000"},
		{message: edit(`"m":2`, `"m":2,"min_runs":2.5`), want: "expected a whole number, found 2.5"},
		{message: edit(`"m":2`, `"m":2,"min_runs":"3"`), want: `expected a whole number, found "3"`},
		{message: edit(`"m":2`, `"m":2,"min_seconds":-1`), want: "min_seconds: expected 0 to 3600, found -1"},
		{message: edit(`"m":2`, `"m":2,"min_seconds":1e9`), want: "min_seconds: expected 0 to 3600, found 1e+09"},
		{message: edit(`"m":2`, `"m":2,"min_seconds":"1"`), want: "the input: json: cannot unmarshal string"},
		{message: `{"id":5,"kind":"evaluate","input":[` + strings.Repeat("1,", 1<<20) + `1]}`, want: "the message is longer than 1048576 bytes"},
		{message: `{"input":"` + strings.Repeat("x", 1<<21) + `","id":5}`, want: "the message is longer than 1048576 bytes", noID: true},
		{message: `{"id":5,"a":` + strings.Repeat("[", 1<<19) + `}`, want: "the message: "},
		{message: "{\"id\":5,\"kind\":\"\x00\xff\"}", want: "the message: invalid character"},
	} {
		a := talk(t, c.message, `{"id":6,"kind":"evaluate","module":"hello","function":"double","input":21}`)
		name := c.message
		if len(name) > 80 {
			name = name[:80] + "..."
		}
		if (a[0].ID == nil) != c.noID || a[0].ID != nil && *a[0].ID != 5 {
			t.Errorf("%s: the answer's id is %v", name, a[0].ID)
		}
		if a[0].Success == nil || *a[0].Success || !strings.Contains(a[0].Error, c.want) || strings.Contains(a[0].Error, "bug") {
			t.Errorf("%s: success %v, error %q, want one with %q", name, a[0].Success, a[0].Error, c.want)
		}
		if a[1].Success == nil || !*a[1].Success || string(a[1].Output) != "42.0" {
			t.Errorf("%s: the message after it got %+v", name, a[1])
		}
	}
}

// TestBug checks that a panic in a function becomes an answer too.
func TestBug(t *testing.T) {
	Revnum.modules["broken"] = map[string]function{"f": func(json.RawMessage, int) (evaluation, error) {
		return evaluation{call: func() { panic("ouch") }}, nil
	}}
	defer delete(Revnum.modules, "broken")
	a := talk(t, `{"id":5,"kind":"evaluate","module":"broken","function":"f","input":1}`, `{"id":6,"kind":"start"}`)
	if a[0].Success == nil || *a[0].Success || !strings.Contains(a[0].Error, "this is a bug in revnum: ouch") || a[1].Tool != Revnum.Name {
		t.Errorf("answered %+v", a)
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestServeWriterFails(t *testing.T) {
	broken := errors.New("broken pipe")
	if err := Revnum.Serve(strings.NewReader(`{"id":0,"kind":"start"}`), brokenWriter{broken}, 1); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

// TestDurations packs durations of all sizes.
func TestDurations(t *testing.T) {
	want := []time.Duration{0, 1, 127, 128, 1 << 14, 5 * time.Second, math.MaxInt64}
	var s durations
	for _, d := range want {
		s.add(d)
	}
	var got []time.Duration
	s.all(func(ns uint64) { got = append(got, time.Duration(ns)) })
	if !slices.Equal(got, want) || s.n != len(want) {
		t.Errorf("%d durations %v, want %v", s.n, got, want)
	}
}

// TestWriteNumbers checks that numbers have a point or an exponent, and read back as
// they were.
func TestWriteNumbers(t *testing.T) {
	x := numbers{0, math.Copysign(0, -1), 1, -3, 0.5, 1e21, 123456789, 1e-7, math.MaxFloat64, math.SmallestNonzeroFloat64}
	var text bytes.Buffer
	out := bufio.NewWriter(&text)
	writeValue(out, reflect.ValueOf(x))
	_ = out.Flush()
	if want := "[0.0,-0.0,1.0,-3.0,0.5,1e+21,1.23456789e+08,1e-07,1.7976931348623157e+308,5e-324]"; text.String() != want {
		t.Errorf("written %s, want %s", &text, want)
	}
	var back numbers
	if err := json.Unmarshal(text.Bytes(), &back); err != nil || !slices.Equal(back, x) {
		t.Errorf("read back %v (%v), want %v", back, err, x)
	}
}

func TestNumbers(t *testing.T) {
	for in, want := range map[string][]float64{
		"[]": {}, " [ ] ": {}, "[1]": {1}, "[ 1 , -2.5e3\n, 0 ] ": {1, -2500, 0},
	} {
		var got numbers
		if err := json.Unmarshal([]byte(in), &got); err != nil || len(got) != len(want) {
			t.Errorf("%s: %v, %v, want %v", in, got, err, want)
			continue
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: %v, want %v", in, got, want)
			}
		}
	}
}

// FuzzServe checks that every line gets one answer, of the protocol's form.
func FuzzServe(f *testing.F) {
	f.Add(`{"id":0,"kind":"start"}`)
	f.Add(`{"id":1,"kind":"define","module":"gmm"}`)
	f.Add(`{"id":2,"kind":"evaluate","module":"hello","function":"square","input":3}`)
	f.Add(`{"id":2,"kind":"evaluate","module":"gmm","function":"jacobian","input":` + gmmInput + `}`)
	f.Add(`{"id":2,"kind":"evaluate","module":"gmm","function":"jacobian"`)
	f.Add(`{"id":2,"kind":"evaluate","module":"lse","function":"gradient","input":{"x":[1,2,3]}}`)
	f.Add(`{"id":2,"kind":"evaluate","module":"llsq","function":"gradient","input":{"x":[1,2,3],"n":3}}`)
	f.Add(`{"id":2,"kind":"evaluate","module":"kmeans","function":"dir","input":{"points":[[1,2],[3,4]],"centroids":[[1,1]]}}`)
	f.Fuzz(func(t *testing.T, in string) {
		if strings.Contains(strings.ToLower(in), "min_") {
			return // may rightly take an hour
		}
		if strings.Contains(in, "llsq") && strings.ContainsFunc(in, func(r rune) bool { return r >= '4' && r <= '9' }) {
			return // may rightly take a gigabyte
		}
		lines := 0
		for line := range strings.Lines(in) {
			if strings.TrimSpace(line) != "" {
				lines++
			}
		}
		var out bytes.Buffer
		if err := Revnum.serve(strings.NewReader(in), &out, 1, 1<<16); err != nil {
			t.Fatal(err)
		}
		answers := 0
		for line := range strings.Lines(out.String()) {
			answers++
			var a answered
			var generic map[string]any
			if err := json.Unmarshal([]byte(line), &generic); err != nil {
				t.Errorf("answer %q: %v", line, err)
			}
			if _, ok := generic["id"]; !ok {
				t.Errorf("answer %q has no id", line)
			}
			if json.Unmarshal([]byte(line), &a) == nil && strings.Contains(a.Error, "this is a bug") {
				t.Errorf("answer %q", line)
			}
		}
		if answers != lines {
			t.Errorf("%d answers to %d lines", answers, lines)
		}
	})
}

// A large output is written without being held as text.
func TestWriteMemory(t *testing.T) {
	rows := make([]numbers, 2000)
	for i := range rows {
		rows[i] = make(numbers, 100)
		for j := range rows[i] {
			rows[i][j] = 1 / float64(i+j+1)
		}
	}
	type named struct {
		Rows []numbers `json:"rows"`
		N    []int32   `json:"n"`
		Last number    `json:"last"`
	}
	r := response{id: []byte("1"), output: named{rows, []int32{-3, 7}, 2}}
	out := bufio.NewWriter(io.Discard)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r.write(out)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes allocated", n)
	}
	var text bytes.Buffer
	out.Reset(&text)
	r.write(out)
	_ = out.Flush()
	var got struct {
		Output struct {
			Rows [][]float64
			N    []int
			Last float64
		}
	}
	if err := json.Unmarshal(text.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	o := got.Output
	if len(o.Rows) != len(rows) || !slices.Equal(o.Rows[1999], rows[1999]) || !slices.Equal(o.N, []int{-3, 7}) || o.Last != 2 {
		t.Errorf("the output is read back as %v", o)
	}
	if !strings.HasSuffix(text.String(), `"n":[-3,7],"last":2.0}}`+"\n") {
		t.Errorf("the output ends in %q", text.String()[text.Len()-40:])
	}
}

// A long line takes about twice its size to read, and has memory of its own.
func TestReadLine(t *testing.T) {
	const size = 8 << 20
	first, second := strings.Repeat("a", size-1)+"\n", strings.Repeat("b", size)
	in := bufio.NewReader(strings.NewReader(first + second))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	line, whole, err := readLine(in, maxLine)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 2.5*size {
		t.Errorf("%d bytes allocated for a line of %d", n, size)
	}
	if next, whole, err := readLine(in, maxLine); string(next) != second || !whole || !errors.Is(err, io.EOF) {
		t.Errorf("the second line has %d bytes, whole %v, error %v", len(next), whole, err)
	}
	if string(line) != first || !whole || err != nil {
		t.Errorf("the first line has %d bytes, whole %v, error %v", len(line), whole, err)
	}
}
