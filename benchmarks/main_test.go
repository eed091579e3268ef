package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"revnum/program"
	"revnum/revmodels/gmm"
)

// TestMain runs the command instead of the tests if a test has started the process for
// that.
func TestMain(m *testing.M) {
	if os.Getenv("BENCHMARKS_RUN_MAIN") != "" {
		main()
	}
	os.Exit(m.Run())
}

// run runs a command in this process.
func run(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = program.Execute(newRoot(), args, strings.NewReader(stdin), &out, &errs)
	return status, out.String(), errs.String()
}

// must runs a command that must succeed, and returns its output.
func must(t *testing.T, args ...string) string {
	t.Helper()
	status, stdout, stderr := run("", args...)
	if status != 0 {
		t.Fatalf("%v: exit status %d: %s", args, status, stderr)
	}
	return stdout
}

func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}

// small are problems that take almost no time.
const small = `^(gmm n=1000 d=10 k=25|exp n=1000)$`

func TestSuite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	stdout := must(t, "--run", small, "--time", "2ms", "--out", dir)
	wantFiles(t, dir, "ratios.png", "ratios.svg", "results.csv", "results.json", "table.txt", "times.png", "times.svg")

	table, err := os.ReadFile(filepath.Join(dir, "table.txt"))
	if err != nil || !strings.HasPrefix(stdout, string(table)) {
		t.Errorf("printed\n%sbut wrote\n%s(%v)", stdout, table, err)
	}
	for _, want := range []string{
		`(?m)^gmm +n=1000 d=10 k=25 +1 `, `(?m)^gmm +n=1000 d=10 k=25 +2 .* one worker, same bits$`, `(?m)^exp +n=1000 .* math\.Exp$`,
	} {
		if !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("the table has no %s:\n%s", want, stdout)
		}
	}

	var report struct {
		Machine struct {
			FMA64 float64 `json:"fma64"`
		} `json:"machine"`
		Results []map[string]any `json:"results"`
	}
	b, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &report); err != nil {
		t.Fatal(err)
	}
	if report.Machine.FMA64 <= 0 || len(report.Results) != 3 {
		t.Fatalf("results.json holds %s", b)
	}
	for _, r := range report.Results[:2] {
		if e := r["gradient_error"].(float64); !(e < 1e-7) {
			t.Errorf("gradient error %v", e)
		}
		if e := r["roundtrip_error"].(float64); !(e < 1e-14) {
			t.Errorf("round-trip error %v", e)
		}
		f, j, ratio := r["f_seconds"].(float64), r["j_seconds"].(float64), r["j_over_f"].(float64)
		if !(f > 0) || !(j > 0) || !(math.Abs(ratio-j/f) <= 1e-9*ratio) {
			t.Errorf("F, J and J/F are %v, %v, %v", f, j, ratio)
		}
		// n·k·d(d+1) flops.
		if rate := r["f_flops"].(float64); !(math.Abs(rate*f-1000*25*110) <= 1) {
			t.Errorf("%v flop/s in %v s", rate, f)
		}
		if p := r["f_of_peak"].(float64); !(p > 0) {
			t.Errorf("%v of the peak", p)
		}
		if e := r["extra_bytes"].(float64); !(e >= 0 && e < 16<<20) {
			t.Errorf("%v bytes of extra memory", e)
		}
	}
	if report.Results[0]["same_bits"] != nil || report.Results[1]["same_bits"] != true {
		t.Errorf("same bits: %v, %v", report.Results[0]["same_bits"], report.Results[1]["same_bits"])
	}
	if report.Results[2]["gradient_error"] != nil {
		t.Errorf("exp has a gradient: %v", report.Results[2])
	}

	f, err := os.Open(filepath.Join(dir, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil || len(records) != 4 || records[0][0] != "family" || records[3][0] != "exp" {
		t.Errorf("results.csv holds %q, %v", records, err)
	}
	checkFigures(t, dir, "times", "ratios")

	// Run it again, into a folder that exists.
	must(t, "--run", "^exp n=1000$", "--time", "1ms", "--out", dir)
}

// checkFigures checks that figures are images with something on them.
func checkFigures(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		f, err := os.Open(filepath.Join(dir, name+".png"))
		if err != nil {
			t.Error(err)
			continue
		}
		img, err := png.Decode(f)
		_ = f.Close()
		if err != nil {
			t.Errorf("%s.png: %v", name, err)
			continue
		}
		colours := make(map[any]bool)
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				colours[img.At(x, y)] = true
			}
		}
		if len(colours) < 10 {
			t.Errorf("%s.png has %d colours", name, len(colours))
		}
		svg, err := os.ReadFile(filepath.Join(dir, name+".svg"))
		if err != nil || !bytes.Contains(svg, []byte("<svg")) || !bytes.Contains(svg, []byte("</svg>")) {
			t.Errorf("%s.svg holds %.100q, %v", name, svg, err)
		}
	}
}

func TestList(t *testing.T) {
	names := strings.Split(strings.TrimSpace(must(t, "--list")), "\n")
	for _, want := range []string{
		"gmm n=1000 d=64 k=50", "gmm n=1000 d=32 k=100", "gmm n=1000 d=10 k=25", "gmm n=10000 d=2 k=200",
		"gmm n=2500000 d=10 k=50", "exp n=1000",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("the suite has no %q", want)
		}
	}
	if slices.Sort(names); len(slices.Compact(names)) != len(names) {
		t.Error("the suite has two problems of one name")
	}
}

// TestBadInput checks that each bad input gives one line that says why, an exit status,
// and no file.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	in := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(in, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	problem := filepath.Join("internal", "adbench", "testdata", "gmm_d3_K4.txt")
	whole, err := os.ReadFile(problem)
	if err != nil {
		t.Fatal(err)
	}
	truncated := file("truncated.txt", string(whole[:len(whole)/2]))
	data := file("data.csv", "a,b\n1,2\n3,4\n5,6\n7,9\n")
	ragged := file("ragged.csv", "a,b\n1,2\n3\n")
	words := file("words.csv", "1,2\nx,4\n")
	nan := file("nan.csv", "1,2\n3,NaN\n")
	short := file("short.csv", twoRows)
	wide := file("wide.csv", strings.Repeat("1,", 300_000)+"1\n"+strings.Repeat("2,", 300_000)+"2\n")
	npy := file("short.npy", "\x93NUMPY\x01\x00v\x00{'descr'")
	model := file("model.json", `{"weights":[1],"means":[[0,0]],"covariances":[[[1,0],[0,1]]]}`)
	model3 := file("model3.json", `{"weights":[1],"means":[[0,0,0]],"covariances":[[[1,0,0],[0,1,0],[0,0,1]]]}`)
	singular := file("singular.json", `{"weights":[1],"means":[[0,0]],"covariances":[[[1,1],[1,1]]]}`)
	malformed := file("malformed.json", "{\n\"weights\":[1,]}")
	adbench := func(test, module, input, prefix string) []string {
		return []string{"adbench", test, module, input, prefix, "0", "1", "1", "1"}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"nonsense"}, `unknown command "nonsense"`},
		{[]string{"--nonsense"}, "unknown flag: --nonsense"},
		{[]string{"--run", "("}, "--run: error parsing regexp"},
		{[]string{"--run", "no such problem", "--out", dir}, "no problem's name matches"},
		{[]string{"--run", "exp", "--time", "0s", "--out", dir}, "--time: expected a duration from 1ns"},
		{[]string{"--run", "exp", "--out", filepath.Join(dir, "no", "such")}, "no such file"},
		{[]string{"--run", "exp", "--out", data}, "data.csv: expected a folder"},
		{[]string{"peak", "--time", "0s"}, "--time: expected a duration from 1ns"},
		{[]string{"peak", "x"}, `unknown command "x"`},

		{[]string{"adbench"}, "expected the 8 arguments"},
		{adbench("XYZ", "Revnum", problem, dir+"/"), `unknown test "XYZ"`},
		{adbench("Hand", "Revnum", problem, dir+"/"), "bones.txt"},
		{adbench("GMM", "Manual", problem, dir+"/"), `unknown module "Manual"`},
		{adbench("GMM", "Revnum", "missing.txt", dir+"/"), "missing.txt"},
		{adbench("GMM", "Revnum", truncated, dir+"/"), "truncated.txt:"},
		{adbench("GMM", "Revnum", problem, dir+"/no/such/"), "output folder"},
		{append(adbench("GMM", "Revnum", problem, dir+"/"), "-x"), `found "-x"`},

		{[]string{"gen", "gmm", "--d", "0"}, "--d: expected an integer from 1 to 65536, found"},
		{[]string{"gen", "gmm", "--n", "-5"}, "--n: expected an integer from 1 to "},
		{[]string{"gen", "gmm", "--n", strconv.Itoa(math.MaxInt)}, "--n: expected an integer from 1 to "},
		{[]string{"gen", "gmm", "--d", "65536", "--k", "1000000"}, "available"},
		{[]string{"gen", "gmm", "--k", "x"}, `--k: expected an integer from 1 to 1048576, found "x"`},
		{[]string{"gen", "gmm", "-o", filepath.Join(dir, "no", "such.txt")}, "no such file"},
		{[]string{"gen", "gmm", "-o", dir}, "is a folder"},
		{[]string{"gen", "nonsense"}, `unknown command "nonsense"`},
		{[]string{"gmm", "nonsense"}, `unknown command "nonsense"`},

		{[]string{"gmm", "fit"}, "accepts 1 arg(s)"},
		{[]string{"gmm", "fit", "missing.csv"}, "missing.csv"},
		{[]string{"gmm", "fit", ragged}, "ragged.csv:3: expected 2 numbers, found 1"},
		{[]string{"gmm", "fit", words}, `words.csv:2: expected a finite number for column 0, found "x"`},
		{[]string{"gmm", "fit", nan}, `nan.csv:2: expected a finite number for column 1, found "NaN"`},
		{[]string{"gmm", "fit", npy}, "short.npy: the header is cut off"},
		{[]string{"gmm", "fit", wide, "-k", "1"}, "wide.csv: covariances of 1 components in 300001 dimensions need"},
		{[]string{"gmm", "fit", data, "-k", "0"}, "--components: expected a number from 1 to 65536"},
		{[]string{"gmm", "fit", data, "-k", "5"}, "data.csv: gmm: "},
		{[]string{"gmm", "fit", data, "-k", "1", "--starts", "-1"}, "--starts: expected an integer from 0 to 65536"},
		{[]string{"gmm", "fit", data, "-k", "1", "--max-iter", "0"}, "--max-iter: expected an integer from 1 to 1048576, found"},
		{[]string{"gmm", "fit", data, "-k", "1", "--tolerance", "0"}, "--tolerance: expected a number from 1e-300 to 1e+100, found"},
		{[]string{"gmm", "fit", data, "-k", "1", "--tolerance", "NaN"}, `--tolerance: expected a number from 1e-300 to 1e+100, found "NaN"`},
		{[]string{"gmm", "fit", data, "-k", "1", "--plot", filepath.Join(dir, "x.bmp")}, "expected the extension"},
		{[]string{"gmm", "fit", data, "-k", "1", "--plot", filepath.Join(dir, "x.png"), "--cols", "0,1,0"}, "--cols: expected one column or two"},
		{[]string{"gmm", "fit", data, "-k", "3..2"}, "expected a number from 1 to 65536, or two like 2..8"},
		{[]string{"gmm", "fit", data, "-k", "many"}, "expected a number from 1 to 65536, or two like 2..8"},
		{[]string{"gmm", "fit", data, "--covariance", "round"}, "expected one of the covariances"},
		{[]string{"gmm", "fit", short, "-k", "1"}, "short.csv: gmm: 2 points do not determine full covariances of 1000 columns"},
		{[]string{"gmm", "fit", "missing.csv", "--out", filepath.Join(dir, "no", "such.json")}, "such.json"},
		{[]string{"gmm", "fit", "missing.csv", "--plot", filepath.Join(dir, "no", "such.png")}, "such.png"},
		{[]string{"gmm", "fit", data, "-k", "1", "--plot", filepath.Join(dir, "x.png"), "--cols", "0,2"}, `--cols: expected one of a, b or a number from 0 to 1, found "2"`},
		{[]string{"gmm", "fit", data, "-k", "1", "--plot", filepath.Join(dir, "x.png"), "--cols", "b,c"}, `found "c"`},
		{[]string{"gmm", "fit", data, "-k", "1", "--out", filepath.Join(dir, "no", "such.json")}, "no such file"},
		{[]string{"gmm", "predict", model}, "accepts 2 arg(s)"},
		{[]string{"gmm", "predict", "missing.json", data}, "missing.json"},
		{[]string{"gmm", "predict", malformed, data}, "malformed.json:2: expected a mixture"},
		{[]string{"gmm", "predict", data, data}, "data.csv:1: expected a mixture"},
		{[]string{"gmm", "predict", singular, data}, "singular.json: expected a mixture"},
		{[]string{"gmm", "predict", file("null.json", "null"), data}, "null.json: expected a mixture"},
		{[]string{"gmm", "predict", file("empty.json", "{}"), data}, "empty.json: expected a mixture"},
		{[]string{"gmm", "predict", model3, data}, "data.csv: expected 3 columns"},
		{[]string{"gmm", "predict", model, words}, "words.csv:2"},
		{[]string{"gmm", "predict", model, data, "--out", filepath.Join(dir, "no", "such.csv")}, "no such file"},
	} {
		status, stdout, stderr := run("", c.args...)
		if status != 1 || !strings.HasPrefix(stderr, "benchmarks: ") || !strings.Contains(stderr, c.want) ||
			strings.Contains(stderr, "goroutine") || strings.Contains(stderr, "bug") {
			t.Errorf("%v: exit status %d, %q, want 1 and %q", c.args, status, stderr, c.want)
		}
		if strings.Contains(stdout, "Usage") {
			t.Errorf("%v: prints the usage", c.args)
		}
	}
	wantFiles(t, dir)
}

// TestFullDevice writes to a device that is always full.
func TestFullDevice(t *testing.T) {
	const full = "/dev/full"
	f, err := os.OpenFile(full, os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	data := filepath.Join(t.TempDir(), "data.csv")
	if err := os.WriteFile(data, []byte("1,2\n3,4\n5,7\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"gen", "gmm", "-o", full}, {"gmm", "fit", data, "-k", "1", "--out", full},
	} {
		if status, _, stderr := run("", args...); status != 1 || !strings.Contains(stderr, "no space left on device") {
			t.Errorf("%v: exit status %d, %q, want 1 and that no space is left", args, status, stderr)
		}
	}
	// Standard output itself.
	for _, args := range [][]string{{"gen", "gmm"}, {"gmm", "fit", data, "-k", "1"}, {"gradbench"}, {"peak", "--time", "4ms"}, {"--list"}} {
		var errs bytes.Buffer
		in := strings.NewReader(`{"id":0,"kind":"start"}`)
		if status := program.Execute(newRoot(), args, in, f, &errs); status != 1 || !strings.Contains(errs.String(), "no space left on device") {
			t.Errorf("%v: exit status %d, %q, want 1 and that no space is left", args, status, errs.String())
		}
	}
}

// TestFullFolder makes commands write to files on a device that is always full.
func TestFullFolder(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip(err)
	}
	problem := filepath.Join("internal", "adbench", "testdata", "gmm_d3_K4.txt")
	for file, args := range map[string][]string{
		"gmm_d3_K4_F_Revnum.txt": {"adbench", "GMM", "Revnum", problem, "DIR/", "0", "1", "1", "1"},
		"results.csv":            {"--run", "^exp n=1000$", "--time", "1ms", "--out", "DIR"},
	} {
		dir := t.TempDir()
		if err := os.Symlink(full, filepath.Join(dir, file)); err != nil {
			t.Skip(err)
		}
		for i, a := range args {
			args[i] = strings.Replace(a, "DIR", dir, 1)
		}
		if status, _, stderr := run("", args...); status != 1 || !strings.Contains(stderr, file+": cannot write: no space left on device") {
			t.Errorf("%v: exit status %d, %q, want 1 and that no space is left", args, status, stderr)
		}
		wantFiles(t, dir, file) // the link stays, and there is nothing else
	}
}

func TestBug(t *testing.T) {
	// A reader that panics stands for an unforeseen bug.
	var out, errs bytes.Buffer
	status := program.Execute(newRoot(), []string{"gradbench"}, readerFunc(func([]byte) (int, error) { panic("ouch") }), &out, &errs)
	if want := "benchmarks: this is a bug in revnum: ouch (REVNUM_TRACE=1 shows where)\n"; status != 1 || errs.String() != want {
		t.Errorf("exit status %d, %q, want 1 and %q", status, errs.String(), want)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestGenThenADBench(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "gmm_d3_K4.txt")
	args := []string{"gen", "gmm", "--d", "3", "--k", "4", "--n", "20", "--seed", "1"}
	must(t, append(args, "-o", in)...)
	got, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("internal", "adbench", "testdata", "gmm_d3_K4.txt"))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("gen wrote\n%s(%v), want\n%s", got, err, want)
	}
	if stdout := must(t, args...); stdout != string(want) {
		t.Errorf("gen printed\n%s, want\n%s", stdout, want)
	}
	must(t, "adbench", "GMM", "Revnum", in, dir+"/", "0", "3", "3", "1")
	wantFiles(t, dir, "gmm_d3_K4.txt", "gmm_d3_K4_F_Revnum.txt", "gmm_d3_K4_J_Revnum.txt", "gmm_d3_K4_times_Revnum.txt")

	rep := filepath.Join(dir, "rep.txt")
	must(t, append(args, "--rep", "-o", rep)...)
	must(t, "adbench", "GMM", "RevnumMT", rep, dir+"/", "0", "3", "3", "1", "-rep")
	if status, _, stderr := run("", "adbench", "GMM", "Revnum", rep, dir+"/", "0", "3", "3", "1"); status != 1 || !strings.Contains(stderr, "rep.txt:") {
		t.Errorf("one point for twenty: exit status %d, %s", status, stderr)
	}
}

func TestGradBench(t *testing.T) {
	in := `{"id":0,"kind":"start"}
{"id":1,"kind":"evaluate","module":"hello","function":"square","input":3}
`
	for _, args := range [][]string{{"gradbench"}, {"gradbench", "--multithreaded"}} {
		status, stdout, stderr := run(in, args...)
		want := regexp.MustCompile(`^{"id":0,"tool":"revnum"}\n{"id":1,"success":true,"output":9.0,"timings":\[{"name":"evaluate","nanoseconds":\d+}\]}\n$`)
		if status != 0 || stderr != "" || !want.MatchString(stdout) {
			t.Errorf("%v: exit status %d, %s, %s", args, status, stdout, stderr)
		}
	}
}

// twoClouds are points around (0, 0) and (10, 5), drawn by hand.
const twoClouds = `x,y,z
0.1,0.2,1
-0.3,0.4,2
0.5,-0.1,3
-0.2,-0.5,1
0.3,0.3,2
10.2,5.1,3
9.8,4.7,1
10.1,5.4,2
9.7,5.2,3
10.4,4.8,1
`

// TestFitData fits compressed data, data with one column, and data with few points and
// many columns. It also chooses a number of components.
func TestFitData(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		var b bytes.Buffer
		if filepath.Ext(name) == ".gz" {
			z := gzip.NewWriter(&b)
			if _, err := io.WriteString(z, text); err != nil || z.Close() != nil {
				t.Fatal(err)
			}
		} else {
			b.WriteString(text)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := strings.ReplaceAll(must(t, "gmm", "fit", file("x.csv", twoClouds), "-k", "2"), "x.csv", "x.csv.gz")
	packed := must(t, "gmm", "fit", file("x.csv.gz", twoClouds), "-k", "2")
	if _, a, _ := strings.Cut(plain, "\nlog-likelihood "); !strings.HasSuffix(packed, a) {
		t.Errorf("plain:\n%s\ncompressed:\n%s", plain, packed)
	}

	plot := filepath.Join(dir, "fit.png")
	must(t, "gmm", "fit", file("one.csv", "1\n2\n1.5\n9\n8\n8.5\n"), "-k", "2", "--plot", plot)
	must(t, "gmm", "fit", file("x.csv", twoClouds), "-k", "2", "--plot", filepath.Join(dir, "fit.svg"), "--cols", "y")
	checkFigures(t, dir, "fit")

	for _, covariance := range []string{"diagonal", "spherical"} {
		must(t, "gmm", "fit", file("short.csv", twoRows), "-k", "2", "--covariance", covariance)
	}

	model := filepath.Join(dir, "model.json")
	stdout := must(t, "gmm", "fit", file("x.csv", twoClouds), "-k", "1..2", "--covariance", "spherical", "--cols", "0", "--out", model)
	m, err := gmm.ReadFile(model)
	if err != nil || m.Components() != 2 || m.Covariance() != gmm.Spherical || !strings.Contains(stdout, "BIC\n") {
		t.Errorf("%v, %v\n%s", m, err, stdout)
	}
}

// twoRows are two points of many coordinates.
var twoRows = strings.Repeat("1,", 999) + "1\n" + strings.Repeat("2,", 999) + "3\n"

// TestFitInterrupt interrupts a fit. The fit must write the best mixture so far.
func TestFitInterrupt(t *testing.T) {
	dir := t.TempDir()
	var rows strings.Builder
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		fmt.Fprintf(&rows, "%.3f,%.3f\n", rnd.Float64(), rnd.Float64())
	}
	data, model := filepath.Join(dir, "data.csv"), filepath.Join(dir, "model.json")
	if err := os.WriteFile(data, []byte(rows.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	// The first interrupt comes before there is a mixture to write, the second one
	// later.
	for wait := 50 * time.Millisecond; ; wait *= 2 {
		status := make(chan int, 1)
		var stderr bytes.Buffer
		go func() {
			status <- program.Execute(newRoot(), []string{"gmm", "fit", data, "-k", "30", "--tolerance", "1e-300", "--max-iter", "1000000", "--out", model}, nil, io.Discard, &stderr)
		}()
		for time.Sleep(wait); !program.Interrupt() && len(status) == 0; { // it has not begun
			time.Sleep(time.Millisecond)
		}
		if got := <-status; got != 130 || stderr.String() != "interrupted\n" {
			t.Fatalf("exit status %d, %s", got, stderr.String())
		}
		if m, err := gmm.ReadFile(model); err == nil {
			if m.Components() != 30 {
				t.Errorf("%d components", m.Components())
			}
			return
		}
	}
}

func TestFitAndPredict(t *testing.T) {
	dir := t.TempDir()
	data, model := filepath.Join(dir, "data.csv"), filepath.Join(dir, "model.json")
	if err := os.WriteFile(data, []byte(twoClouds), 0o666); err != nil {
		t.Fatal(err)
	}
	stdout := must(t, "gmm", "fit", data, "-k", "2", "--starts", "2", "--seed", "7", "--out", model,
		"--plot", filepath.Join(dir, "fit.png"), "--cols", "y,0")
	for _, want := range []string{"10 points, 3 columns", "log-likelihood", "BIC", "component", "0.5000", "x", "±", "model written to " + model} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the report has no %q:\n%s", want, stdout)
		}
	}
	must(t, "gmm", "fit", data, "-k", "2", "--plot", filepath.Join(dir, "fit.svg"))
	checkFigures(t, dir, "fit")

	labels := filepath.Join(dir, "labels.csv")
	must(t, "gmm", "predict", model, data, "--out", labels)
	b, err := os.ReadFile(labels)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(b))
	if len(lines) != 11 || lines[0] != "component" {
		t.Fatalf("predicted %q", lines)
	}
	for i, l := range lines[1:] {
		if want := lines[1+i/5*5]; l != want {
			t.Errorf("point %d is in component %s, want %s", i, l, want)
		}
	}
	if lines[1] == lines[6] {
		t.Error("both clouds are one component")
	}

	for i, line := range strings.Split(strings.TrimSpace(must(t, "gmm", "predict", "--prob", model, data)), "\n") {
		if i == 0 {
			if line != "component,p0,p1" {
				t.Errorf("header %q", line)
			}
			continue
		}
		f := strings.Split(line, ",")
		p0, err0 := strconv.ParseFloat(f[1], 64)
		p1, err1 := strconv.ParseFloat(f[2], 64)
		if err0 != nil || err1 != nil || !(math.Abs(p0+p1-1) <= 1e-6) || (p1 > p0) != (f[0] == "1") {
			t.Errorf("line %d: %s", i, line)
		}
	}
}

// TestFitFaithful checks the known maximum of the likelihood for the eruptions
// of Old Faithful: two components, full covariances.
func TestFitFaithful(t *testing.T) {
	data := filepath.Join("..", "..", "shared", "data", "gmm", "faithful.csv")
	if _, err := os.Stat(data); err != nil {
		t.Skip("the data is not here")
	}
	stdout := must(t, "gmm", "fit", data, "-k", "2")
	match := regexp.MustCompile(`log-likelihood (-\d+\.\d+), BIC`).FindStringSubmatch(stdout)
	if match == nil {
		t.Fatalf("no log-likelihood in\n%s", stdout)
	}
	if got, err := strconv.ParseFloat(match[1], 64); err != nil || !(math.Abs(got+1130.264) <= 5e-4) {
		t.Errorf("log-likelihood %v, want the maximum, -1130.264", got)
	}
}

// TestFitReproducible checks that one seed gives one file.
func TestFitReproducible(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data.csv")
	if err := os.WriteFile(data, []byte(twoClouds), 0o666); err != nil {
		t.Fatal(err)
	}
	var models [2][]byte
	for i := range models {
		path := filepath.Join(dir, "model.json")
		must(t, "gmm", "fit", data, "-k", "3", "--seed", "5", "--out", path)
		var err error
		if models[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(models[0], models[1]) {
		t.Errorf("two fits of one seed: %s and %s", models[0], models[1])
	}
}

func TestHelp(t *testing.T) {
	var walk func(path []string, cmd *cobra.Command)
	walk = func(path []string, cmd *cobra.Command) {
		stdout := must(t, append(path, "--help")...)
		if cmd.Short == "" || !strings.Contains(stdout, "Usage:") {
			t.Errorf("%v has no help: %s", path, stdout)
		}
		for _, c := range cmd.Commands() {
			walk(append(slices.Clone(path), c.Name()), c)
		}
	}
	walk(nil, newRoot())
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if stdout := must(t, "completion", shell); len(stdout) < 100 {
			t.Errorf("%s: %s", shell, stdout)
		}
	}
	for word, args := range map[string][]string{
		"Revnum32":  {"adbench", "GMM", ""},
		"realnvp":   {"flow", "--kind", ""},
		"all":       {"flow", "--data", ""},
		"laplacian": {"sparse", "--kind", ""},
		"npz":       {"rules", "export", "--format", ""},
		"diagonal":  {"gmm", "fit", "--covariance", ""},
	} {
		stdout := must(t, append([]string{"__complete"}, args...)...)
		if words := strings.Fields(stdout); !slices.Contains(words, word) {
			t.Errorf("completion of %v: %s, want %s", args, stdout, word)
		}
	}
}

// TestInterrupt interrupts a process that is writing, and two that measure.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupts to send")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		left []string // the files in its folder afterwards
	}{
		// Each command makes a file in the folder once it is running.
		"gen":        {args: []string{"gen", "gmm", "--d", "64", "-o", "big.txt", "--n", "100000"}},
		"suite":      {args: []string{"--run", "^gmm", "--out", "results"}, left: []string{"results"}},
		"graphembed": {args: []string{"graphembed", "--starts", "1000000", "--out", "results"}, left: []string{"results"}},
	} {
		dir := t.TempDir()
		cmd := exec.Command(exe, c.args...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		err := interrupt(t, cmd, dir, "*")
		for n := 200000; err == nil && name == "gen" && n <= 1600000; n *= 2 {
			// The file was complete before the interrupt came: a larger one takes longer.
			dir = t.TempDir()
			cmd = exec.Command(exe, append(c.args[:len(c.args)-1], strconv.Itoa(n))...)
			cmd.Stderr = &errs
			err = interrupt(t, cmd, dir, "*")
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 130 || !strings.Contains(errs.String(), "interrupted") {
			t.Errorf("%s: %v, %s, want exit status 130", name, err, errs.String())
		}
		wantFiles(t, dir, c.left...)
		if c.left != nil {
			wantFiles(t, filepath.Join(dir, c.left[0]))
		}
	}
}

// interrupt starts a command of this program in dir, interrupts it when the name of a file there matches
// the pattern, and returns the error of its end.
func interrupt(t *testing.T, cmd *exec.Cmd, dir, pattern string) error {
	t.Helper()
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "BENCHMARKS_RUN_MAIN=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := make(chan error, 1)
	go func() { end <- cmd.Wait() }()
	for {
		if found, _ := filepath.Glob(filepath.Join(dir, pattern)); len(found) > 0 {
			break
		}
		select {
		case err := <-end:
			t.Fatalf("%v: ended before it made a file: %v", cmd.Args, err)
		case <-time.After(time.Millisecond):
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	return <-end
}
