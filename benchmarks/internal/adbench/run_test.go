package adbench_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"revnum/benchmarks/internal/adbench"
	"revnum/benchmarks/internal/problem"
)

// reference evaluates the objective with ADBench's sign of the prior, and its
// gradient, point by point and component by component as the formulas stand.
func reference(g *problem.GMM) (f float64, grad []float64) {
	d, tri := g.D, g.D*(g.D+1)/2
	grad = make([]float64, len(g.Params))
	alpha, means, factors := g.Params[:g.K], g.Params[g.K:g.K+g.K*d], g.Params[g.K+g.K*d:]
	gAlpha, gMeans, gFactors := grad[:g.K], grad[g.K:g.K+g.K*d], grad[g.K+g.K*d:]

	q := make([][]float64, g.K) // Q_k by rows
	logDet := make([]float64, g.K)
	for k := range q {
		q[k] = make([]float64, d*d)
		next := d
		for j := range d {
			q[k][j*d+j] = math.Exp(factors[k*tri+j])
			logDet[k] += factors[k*tri+j]
			for i := j + 1; i < d; i++ {
				q[k][i*d+j] = factors[k*tri+next]
				next++
			}
		}
	}
	logSumExp := func(x []float64) float64 {
		m := math.Inf(-1)
		for _, v := range x {
			m = math.Max(m, v)
		}
		var s float64
		for _, v := range x {
			s += math.Exp(v - m)
		}
		return m + math.Log(s)
	}
	// addFactor adds the gradient w·∂/∂Q[i,j].
	addFactor := func(k, i, j int, w float64) {
		if i == j {
			gFactors[k*tri+j] += w * q[k][j*d+j]
			return
		}
		at := d
		for c := range j {
			at += d - 1 - c
		}
		gFactors[k*tri+at+i-j-1] += w
	}

	lseAlpha := logSumExp(alpha)
	f = -float64(g.N) * (float64(d)/2*math.Log(2*math.Pi) + lseAlpha)
	beta := make([]float64, g.K)
	y := make([][]float64, g.K)
	for p := range g.N {
		for k := range beta {
			y[k] = make([]float64, d)
			beta[k] = alpha[k] + logDet[k]
			for i := range d {
				for j := range i + 1 {
					y[k][i] += q[k][i*d+j] * (g.X[p*d+j] - means[k*d+j])
				}
				beta[k] -= y[k][i] * y[k][i] / 2
			}
		}
		l := logSumExp(beta)
		f += l
		for k := range beta {
			r := math.Exp(beta[k] - l)
			gAlpha[k] += r - math.Exp(alpha[k]-lseAlpha)
			for i := range d {
				gFactors[k*tri+i] += r
				for j := range i + 1 {
					gMeans[k*d+j] += r * y[k][i] * q[k][i*d+j]
					addFactor(k, i, j, -r*y[k][i]*(g.X[p*d+j]-means[k*d+j]))
				}
			}
		}
	}

	nu := float64(d + g.M + 1)
	logGamma := float64(d) * float64(d-1) / 4 * math.Log(math.Pi)
	for j := range d {
		v, _ := math.Lgamma((nu - float64(j)) / 2)
		logGamma += v
	}
	f -= float64(g.K) * (nu*float64(d)*(math.Log(g.Gamma)-math.Log(2)/2) - logGamma)
	for k := range q {
		for i := range d {
			f -= float64(g.M) * factors[k*tri+i]
			gFactors[k*tri+i] -= float64(g.M)
			for j := range i + 1 {
				v := q[k][i*d+j]
				f += g.Gamma * g.Gamma * v * v / 2
				addFactor(k, i, j, g.Gamma*g.Gamma*v)
			}
		}
	}
	return f, grad
}

// difference is ADBench's measure of how far two numbers are apart.
func difference(x, y float64) float64 {
	return math.Abs(x-y) / math.Max(1, math.Abs(x)+math.Abs(y))
}

func readNumbers(t *testing.T, path string) []float64 {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var x []float64
	for _, s := range strings.Fields(string(b)) {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		x = append(x, v)
	}
	return x
}

// compare compares the files of a module with the expected numbers. Revnum32 has only
// single precision.
func compare(t *testing.T, prefix, module string, f float64, grad []float64) {
	t.Helper()
	tolF, tolJ := 1e-9, 1e-8
	if module == "Revnum32" {
		tolF, tolJ = 1e-5, 1e-4
	}
	if got := readNumbers(t, prefix+"_F_"+module+".txt"); len(got) != 1 || !(math.Abs(got[0]-f) <= tolF*math.Abs(f)) {
		t.Errorf("%s: F is %v, want %v", module, got, f)
	}
	got := readNumbers(t, prefix+"_J_"+module+".txt")
	if len(got) != len(grad) {
		t.Fatalf("%s: J has %d numbers, want %d", module, len(got), len(grad))
	}
	for i, v := range got {
		if !(difference(v, grad[i]) <= tolJ) {
			t.Errorf("%s: J[%d] is %v, want %v", module, i, v, grad[i])
		}
	}
	if times := readNumbers(t, prefix+"_times_"+module+".txt"); len(times) != 2 || !(times[0] > 0) || !(times[1] > 0) {
		t.Errorf("%s: times are %v, want two of more than 0", module, times)
	}
}

func TestRunAgainstReference(t *testing.T) {
	in := filepath.Join("testdata", "gmm_d3_K4.txt")
	g, err := problem.LoadGMM(in, false)
	if err != nil {
		t.Fatal(err)
	}
	f, grad := reference(g)
	for _, module := range adbench.Modules {
		out := filepath.Join(t.TempDir(), "out_")
		r := adbench.Run{Test: "gmm", Module: module, Input: in, OutPrefix: out, RunsF: 2, RunsJ: 2, TimeLimit: 1}
		if err := r.Do(io.Discard); err != nil {
			t.Fatal(err)
		}
		compare(t, out+"gmm_d3_K4", module, f, grad)
	}
}

func TestRunReplicated(t *testing.T) {
	g, err := problem.GenerateGMM(3, 2, 500, 5, true)
	if err != nil {
		t.Fatal(err)
	}
	g.M, g.Gamma = 2, 1.5
	dir := t.TempDir()
	in := filepath.Join(dir, "p.txt")
	var b bytes.Buffer
	if err := g.Write(&b, true); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	r := adbench.Run{Test: "GMM", Module: "Revnum", Input: in, OutPrefix: dir + "/", Replicate: true}
	if err := r.Do(io.Discard); err != nil {
		t.Fatal(err)
	}
	f, grad := reference(g)
	compare(t, dir+"/p", "Revnum", f, grad)
}

// TestRunAgainstADBench compares with the files that ADBench's hand-written C++ module
// wrote for ADBench's problems.
func TestRunAgainstADBench(t *testing.T) {
	data := filepath.Join("..", "..", "..", "..", "shared", "data", "gmm")
	if _, err := os.Stat(data); err != nil {
		t.Skip("ADBench's data is not here")
	}
	for _, name := range []string{"test", "gmm_d2_K5", "gmm_d10_K25"} {
		f := readNumbers(t, filepath.Join(data, name+"_F_Manual.txt"))
		grad := readNumbers(t, filepath.Join(data, name+"_J_Manual.txt"))
		for _, module := range []string{"Revnum", "RevnumMT"} {
			out := t.TempDir() + "/"
			r := adbench.Run{Test: "GMM", Module: module, Input: filepath.Join(data, name+".txt"), OutPrefix: out}
			if err := r.Do(io.Discard); err != nil {
				t.Fatal(err)
			}
			compare(t, out+name, module, f[0], grad)
		}
	}
}

// TestRunFiles checks the names and the exact text of the files.
func TestRunFiles(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join("testdata", "gmm_d3_K4.txt")
	for module, tool := range map[string]string{
		"Revnum": "Revnum", "/modules/revnum/Revnum32.dll": "Revnum32", `C:\m\RevnumMT.dll`: "RevnumMT",
		"/src/python/modules/Revnum/RevnumGMM.py": "Revnum", "modules/RevnumMTGMM.jl": "RevnumMT",
	} {
		out := filepath.Join(dir, strings.Map(func(r rune) rune {
			if strings.ContainsRune(`/\:.`, r) {
				return '_'
			}
			return r
		}, module))
		r := adbench.Run{Test: "GMM", Module: module, Input: in, OutPrefix: out + "-"}
		if err := r.Do(io.Discard); err != nil {
			t.Fatal(err)
		}
		number := `-?\d\.\d{17}e[+-]\d\d\n`
		for suffix, form := range map[string]string{
			"_F_": number, "_J_": "(" + number + "){40}", "_times_": `(\d\.\d{6}e[+-]\d\d\n){2}`,
		} {
			path := out + "-gmm_d3_K4" + suffix + tool + ".txt"
			b, err := os.ReadFile(path)
			if err != nil || !regexp.MustCompile("^"+form+"$").Match(b) {
				t.Errorf("%s holds %q, %v, want the form %s", path, b, err, form)
			}
		}
	}
}

func TestWriteNumbers(t *testing.T) {
	var b strings.Builder
	x := []float64{8.07380408004975791, -1e-300, 0, math.Inf(1), math.Inf(-1), math.NaN()}
	if err := adbench.WriteNumbers(&b, x); err != nil {
		t.Fatal(err)
	}
	want := "8.07380408004975791e+00\n-1.00000000000000003e-300\n0.00000000000000000e+00\ninf\n-inf\nnan\n"
	if b.String() != want {
		t.Errorf("wrote %q, want %q", b.String(), want)
	}
}

func TestBasename(t *testing.T) {
	for path, want := range map[string]string{
		"a.txt": "a", "/x.y/a": "a", `\x\a.b.txt`: "a.b", "": "", "gmm_d2_K5.txt": "gmm_d2_K5",
	} {
		if got := adbench.Basename(path); got != want {
			t.Errorf("basename(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestParseRun(t *testing.T) {
	args := strings.Fields
	got, err := adbench.ParseRun(args("GMM Revnum in.txt out/ 0.5 10 20 180 -rep"))
	want := adbench.Run{"GMM", "Revnum", "in.txt", "out/", 0.5, 10, 20, 180, true}
	if err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for in, want := range map[string]string{
		"":                                     "found 0",
		"GMM Revnum in out 0.5 10 10":          "found 7",
		"GMM Revnum in out 0.5 10 10 1 -rep x": "found 10",
		"GMM Revnum in out 0.5 10 10 1 -r":     `found "-r"`,
		"GMM Revnum in out half 10 10 1":       `MIN_TIME: expected a number of seconds, found "half"`,
		"GMM Revnum in out NaN 10 10 1":        `MIN_TIME: expected a number of seconds, found "NaN"`,
		"GMM Revnum in out Inf 10 10 1":        `MIN_TIME: expected a finite number of seconds, found "Inf"`,
		"GMM Revnum in out 1 1.5 10 1":         `NRUNS_F: expected a number of runs, found "1.5"`,
		"GMM Revnum in out 1 1 -10 1":          `NRUNS_J: expected a number of runs, found "-10"`,
		"GMM Revnum in out 1 1 10 -1":          `TIME_LIMIT: expected a number of seconds, found "-1"`,
	} {
		if _, err := adbench.ParseRun(args(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", in, err, want)
		}
	}
}

func TestRunErrors(t *testing.T) {
	dir := t.TempDir()
	ok := adbench.Run{Test: "GMM", Module: "Revnum", Input: filepath.Join("testdata", "gmm_d3_K4.txt"), OutPrefix: dir + "/"}
	bad := filepath.Join(dir, "bad.txt")
	if err := os.WriteFile(bad, []byte("2 2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		edit func(r *adbench.Run)
		want string
		is   error
	}{
		{name: "unknown test", edit: func(r *adbench.Run) { r.Test = "XYZ" }, want: `unknown test "XYZ"; there are GMM`},
		{name: "unknown module", edit: func(r *adbench.Run) { r.Module = "lib/Manual.dll" }, want: `unknown module "lib/Manual.dll"; there are Revnum, RevnumMT, Revnum32`},
		{name: "no input", edit: func(r *adbench.Run) { r.Input = "missing.txt" }, want: "missing.txt", is: fs.ErrNotExist},
		{name: "bad input", edit: func(r *adbench.Run) { r.Input = bad }, want: bad + ":2: expected the number of points"},
		{name: "no output folder", edit: func(r *adbench.Run) { r.OutPrefix = dir + "/no/such/" }, want: "no/such", is: fs.ErrNotExist},
		{name: "a file for a folder", edit: func(r *adbench.Run) { r.OutPrefix = bad + "/" }, want: "bad.txt"},
	} {
		r := ok
		c.edit(&r)
		err := r.Do(io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("files were left: %v, %v", entries, err)
	}
}

// TestShortestTime counts calls. Each takes at least a millisecond, which bounds their
// number from above.
func TestShortestTime(t *testing.T) {
	for _, c := range []struct {
		name    string
		minTime float64
		runs    int
		limit   float64
		calls   []int // that there may be
	}{
		{"one run", 0, 1, 10, []int{1}},
		{"none asked for is one", 0, 0, 10, []int{1}},
		{"runs", 0, 5, 100, []int{5}},
		{"time limit", 0, 1000000, 0.005, []int{1, 2, 3, 4, 5, 6}},
		{"doubling", 0.005, 1, 100, []int{1, 3, 7, 15}},
		{"doubling, then runs", 0.005, 3, 100, []int{1 + 2, 3 + 2*2, 7 + 2*4, 15 + 2*8}},
	} {
		calls, total := 0, 0.0
		got, err := adbench.ShortestTime(c.minTime, c.runs, c.limit, func() {
			calls++
			start := time.Now()
			time.Sleep(time.Millisecond)
			total += time.Since(start).Seconds()
		})
		if err != nil || !slices.Contains(c.calls, calls) || got.Least < 1e-3 || got.First < 1e-3 || got.Mean*float64(calls) < total {
			t.Errorf("%s: %+v by %d calls, %v, want at least 1 ms by one of %v calls", c.name, got, calls, err, c.calls)
		}
	}
}
