package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"revnum/program/bundle"
	"revnum/revmodels/ba"
)

func TestGenBA(t *testing.T) {
	dir := t.TempDir()
	for _, kind := range []string{"ring", "city"} {
		start, truth := filepath.Join(dir, kind+".txt.gz"), filepath.Join(dir, kind+"_truth.txt")
		args := []string{"gen", "ba", "--kind", kind, "--cameras", "20", "--points", "100", "--observations", "400", "--noise", "0", "--seed", "3"}
		must(t, append(args, "-o", start, "--truth", truth)...)
		p, err := ba.ReadFile(start)
		if err != nil {
			t.Fatal(err)
		}
		if p.NumCameras() != 20 || p.NumPoints() != 100 || p.NumObservations() != 400 {
			t.Errorf("%s: %d cameras, %d points, %d observations", kind, p.NumCameras(), p.NumPoints(), p.NumObservations())
		}
		q, err := ba.ReadFile(truth)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p.Features, q.Features) || reflect.DeepEqual(p.Cameras, q.Cameras) || reflect.DeepEqual(p.Points, q.Points) {
			t.Errorf("%s: without noise, the features and nothing else are those of the solution", kind)
		}
		again, err := ba.Read(strings.NewReader(must(t, args...)), kind)
		if err != nil || !reflect.DeepEqual(p, again) {
			t.Errorf("%s: printed another problem, %v", kind, err)
		}
	}
	for want, args := range map[string][]string{
		`--kind: expected one of ring, city, adbench, found "town"`: {"--kind", "town"},
		"1 cameras, expected 2 or more":                             {"--cameras", "1"},
		"cannot write: bzip2 is read only":                          {"-o", filepath.Join(dir, "x.bz2"), "--points", "10", "--observations", "20"},
		"--truth: expected another file":                            {"-o", filepath.Join(dir, "x"), "--truth", filepath.Join(dir, "x"), "--points", "10", "--observations", "20"},
		"no such file":                                              {"--truth", filepath.Join(dir, "no", "x"), "--points", "10", "--observations", "20"},
		"--truth: a problem in ADBench's form has no solution":      {"--kind", "adbench", "--truth", filepath.Join(dir, "x")},
		"points and observations need":                              {"--cameras", "1000000", "--observations", "1000000000", "--points", "200000000"},
	} {
		status, _, stderr := run("", append([]string{"gen", "ba"}, args...)...)
		if status != 1 || !strings.Contains(stderr, want) || strings.Contains(stderr, "bug") {
			t.Errorf("%v: exit status %d, %q, want 1 and %q", args, status, stderr, want)
		}
	}
}

// TestGenBAThenADBench draws the problem whose results package adbench has.
func TestGenBAThenADBench(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "ba_n2_m3_p7.txt")
	args := []string{"gen", "ba", "--kind", "adbench", "--cameras", "2", "--points", "3", "--observations", "7", "--seed", "1"}
	must(t, append(args, "-o", in)...)
	got, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("internal", "adbench", "testdata", "ba_n2_m3_p7.txt"))
	if err != nil || string(got) != string(want) {
		t.Errorf("gen wrote\n%s(%v), want\n%s", got, err, want)
	}
	if stdout := must(t, args...); stdout != string(want) {
		t.Errorf("gen printed\n%s, want\n%s", stdout, want)
	}
	must(t, "adbench", "BA", "Revnum", in, dir+"/", "0", "3", "3", "1")
	wantFiles(t, dir, "ba_n2_m3_p7.txt", "ba_n2_m3_p7_F_Revnum.txt", "ba_n2_m3_p7_J_Revnum.txt", "ba_n2_m3_p7_times_Revnum.txt")
}

// bundleFile writes a small problem with noise to a folder of its own.
func bundleFile(t *testing.T, args ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "ring.txt")
	must(t, append([]string{"gen", "ba", "--cameras", "8", "--points", "120", "--observations", "600", "-o", path}, args...)...)
	return path
}

// solved runs ba solve on a problem, and returns what it wrote and printed.
func solved(t *testing.T, path string, args ...string) (p *ba.Problem, stdout string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "solved.txt.gz")
	stdout = must(t, append([]string{"ba", "solve", path, "--out", out}, args...)...)
	p, err := ba.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return p, stdout
}

func TestBASolve(t *testing.T) {
	path := bundleFile(t, "--outliers", "0.02")
	dir := filepath.Join(t.TempDir(), "results")
	ply := filepath.Join(t.TempDir(), "x.ply")
	p, stdout := solved(t, path, "--loss", "huber", "--ply", ply, "--plot-dir", dir)
	start, err := ba.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(p.Features, start.Features) || !reflect.DeepEqual(p.Camera, start.Camera) || !reflect.DeepEqual(p.Point, start.Point) {
		t.Error("the solution is of other observations")
	}
	// The noise of 0.5 pixels remains. Its median is 0.59.
	if e := bundle.ErrorsOf(p).Quantile(0.5); !(e < 0.65) {
		t.Errorf("the median of the errors is %v", e)
	}
	for _, want := range []string{
		`: 8 cameras, 120 points, 600 observations\n`, `(?m)^ +cost +rms px +median +90 % +largest$`, `(?m)^start +[0-9.e+]+ `, `(?m)^ +end +[0-9.e+]+ `,
		`(?m)^\w+ converged after \d+ steps in .* s, by Cholesky for 72 unknowns of cameras`,
		`written to .*solved.txt.gz\n`, `written to .*x.ply\n`, `written to .*results\n$`,
	} {
		if !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("the output has no %s:\n%s", want, stdout)
		}
	}
	wantFiles(t, dir, "convergence.png", "convergence.svg", "errors.png", "errors.svg", "views.png")
	if b, err := os.ReadFile(ply); err != nil || !bytes.HasPrefix(b, []byte("ply\n")) {
		t.Errorf("the .ply holds %.20q, %v", b, err)
	}
	// If it starts at the solution, it has nothing to do.
	again := filepath.Join(t.TempDir(), "again.txt")
	if err := ba.WriteFile(again, p); err != nil {
		t.Fatal(err)
	}
	q, _ := solved(t, again, "--loss", "huber")
	for i, v := range p.Cameras {
		if math.Abs(q.Cameras[i]-v) > 0.02*max(1, math.Abs(v)) {
			t.Errorf("camera parameter %d went from %v to %v", i, v, q.Cameras[i])
		}
	}
}

func TestBASolveOptions(t *testing.T) {
	path := bundleFile(t)
	start, err := ba.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	reference, _ := solved(t, path)
	best := bundle.ErrorsOf(reference).RMS()
	for _, method := range []string{"cholesky", "cg"} {
		p, stdout := solved(t, path, "--method", method, "--cost-tol", "1e-12", "--workers", "2")
		if e := bundle.ErrorsOf(p).RMS(); !(e <= best*(1+1e-6)) || (method == "cg") != strings.Contains(stdout, "by conjugate gradients") {
			t.Errorf("%s: rms %v, want %v at most:\n%s", method, e, best, stdout)
		}
	}

	p, _ := solved(t, path, "--fix-cameras", "0,3..4", "--fix-points", "7")
	for i := range p.NumCameras() {
		fixed := i == 0 || i == 3 || i == 4
		if slices.Equal(p.Cameras[9*i:9*i+9], start.Cameras[9*i:9*i+9]) != fixed {
			t.Errorf("camera %d: moved, or not, as is not asked for", i)
		}
	}
	if !slices.Equal(p.Points[21:24], start.Points[21:24]) || slices.Equal(p.Points[:3], start.Points[:3]) {
		t.Error("point 7 has moved, or point 0 not")
	}

	p, _ = solved(t, path, "--fix-intrinsics")
	q, _ := solved(t, path, "--share-intrinsics")
	r, _ := solved(t, path, "--min-focal", strconv.FormatFloat(start.Cameras[6]-1, 'g', -1, 64), "--max-focal", strconv.FormatFloat(start.Cameras[6]+1, 'g', -1, 64))
	for i := range p.NumCameras() {
		if !slices.Equal(p.Cameras[9*i+6:9*i+9], start.Cameras[9*i+6:9*i+9]) {
			t.Errorf("camera %d: the intrinsics moved", i)
		}
		if !slices.Equal(q.Cameras[9*i+6:9*i+9], q.Cameras[6:9]) || q.Cameras[9*i+6] == start.Cameras[6] {
			t.Errorf("camera %d: the intrinsics are not shared, or not moved", i)
		}
		if f := r.Cameras[9*i+6]; !(math.Abs(f-start.Cameras[6]) <= 1) {
			t.Errorf("camera %d: a focal length of %v", i, f)
		}
	}

	// After one step the result equals that of Cholesky only if the system is solved
	// accurately.
	first := func(args ...string) float64 {
		p, _ := solved(t, path, append(args, "--max-iter", "1")...)
		return bundle.ErrorsOf(p).RMS()
	}
	want := first("--method", "cholesky")
	if e := first("--method", "cg", "--forcing", "1e-15"); math.Abs(e-want) > 1e-6*want {
		t.Errorf("conjugate gradients with a small --forcing: rms %v, want %v", e, want)
	}
	for _, args := range [][]string{{"--method", "cg", "--forcing", "0.9"}, {"--method", "cg", "--forcing", "1e-15", "--max-linear-iter", "2"}} {
		if e := first(args...); !(math.Abs(e-want) > 1e-3*want) {
			t.Errorf("%v: rms %v, as if the system were solved well", args, e)
		}
	}
	if e := first("--radius", "1e-3"); !(e > 2*want) {
		t.Errorf("a small --radius: rms %v, want much more than %v", e, want)
	}

	if _, stdout := solved(t, path, "--max-iter", "1"); !strings.Contains(stdout, "iteration limit after 1 step in") {
		t.Errorf("one iteration:\n%s", stdout)
	}
	if _, stdout := solved(t, path, "--max-time", "1ns"); !strings.Contains(stdout, "time limit") {
		t.Errorf("no time:\n%s", stdout)
	}
	for _, args := range [][]string{{"--loss", "cauchy"}, {"--loss", "tukey", "--scale", "100"}} {
		p, _ := solved(t, path, args...)
		if e := bundle.ErrorsOf(p).RMS(); !(e < 1.1*best) {
			t.Errorf("%v: rms %v", args, e)
		}
	}
}

func TestBACovariance(t *testing.T) {
	path := bundleFile(t)
	for _, c := range []struct {
		args []string
		opts ba.Options
		free int
	}{
		{nil, ba.Options{}, 7},
		{[]string{"--fix-cameras", "1"}, ba.Options{FixedCameras: []int{1}}, 1},
		{[]string{"--fix-points", "5,7", "--loss", "huber"}, ba.Options{FixedPoints: []int{5, 7}, Loss: ba.Huber(1)}, 1},
		{[]string{"--fix-cameras", "1,3", "--free", "0"}, ba.Options{FixedCameras: []int{1, 3}}, 0},
	} {
		file := filepath.Join(t.TempDir(), "c.csv")
		p, stdout := solved(t, path, append(c.args, "--covariance", file)...)
		if !strings.HasSuffix(stdout, "written to "+file+"\n") {
			t.Errorf("%v: no word about the covariance:\n%s", c.args, stdout)
		}
		want, err := ba.CameraCovariance(p, &c.opts, c.free)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil || len(rows) != 1+9*p.NumCameras() {
			t.Fatalf("%v: %d rows, %v", c.args, len(rows), err)
		}
		if h := rows[0]; h[0] != "camera0.r1" || h[9+6] != "camera1.f" || h[len(h)-1] != fmt.Sprintf("camera%d.k2", p.NumCameras()-1) {
			t.Errorf("%v: header %q", c.args, h)
		}
		rows = rows[1:]
		for i, row := range rows {
			for j, s := range row {
				if v, err := strconv.ParseFloat(s, 64); err != nil || v != want.At(i, j) {
					t.Fatalf("%v: element (%d, %d) is %s, want %v", c.args, i, j, s, want.At(i, j))
				}
			}
		}
	}
	// With the wrong number there is an error, after the solution was written.
	out := filepath.Join(t.TempDir(), "solved.txt")
	status, stdout, stderr := run("", "ba", "solve", path, "--out", out, "--covariance", filepath.Join(t.TempDir(), "c"), "--free", "3")
	if status != 1 || !strings.Contains(stderr, "--covariance: with 3 free directions") || !strings.HasSuffix(stdout, "written to "+out+"\n") {
		t.Errorf("3 free directions: status %d, %q, %q", status, stdout, stderr)
	}
}

func TestBAErrors(t *testing.T) {
	path := bundleFile(t)
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.txt")
	if err := os.WriteFile(broken, []byte("1 1 1\n0 1 2 3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"x"}, `unknown command "x"`},
		{[]string{"solve"}, "accepts 1 arg(s), received 0"},
		{[]string{"solve", broken}, `broken.txt:2: expected the index of a point, 0 to 0, found "1"`},
		{[]string{"info", broken}, "broken.txt:2: expected"},
		{[]string{"solve", filepath.Join(dir, "none")}, "no such file"},
		{[]string{"solve", path, "--loss", "hubert"}, `--loss: expected one of cauchy, huber, none, tukey, found "hubert"`},
		{[]string{"solve", path, "--loss", "huber", "--scale", "-1"}, "--scale: expected a number from 1e-100 to"},
		{[]string{"solve", path, "--method", "qr"}, `--method: expected one of auto, cg, cholesky, found "qr"`},
		{[]string{"solve", path, "--fix-cameras", "8"}, `--fix-cameras: expected numbers and ranges within 0..7, as 0,5..9, found "8"`},
		{[]string{"solve", path, "--fix-points", "3..2"}, `--fix-points: expected numbers and ranges within 0..119`},
		{[]string{"solve", path, "--max-iter", "0"}, "--max-iter: expected an integer from 1 to"},
		{[]string{"solve", path, "--max-linear-iter", "0"}, "--max-linear-iter: expected an integer from 1 to"},
		{[]string{"solve", path, "--radius", "0"}, "--radius: expected a number from 1e-100 to"},
		{[]string{"solve", path, "--forcing", "-1"}, "--forcing: expected a number from 1e-15 to"},
		{[]string{"solve", path, "--forcing", "1"}, "--forcing: expected a number from"},
		{[]string{"solve", path, "--free", "2"}, "--free: only together with --covariance"},
		{[]string{"solve", path, "--free", "-2"}, "--free: expected an integer from -1 to"},
		{[]string{"solve", path, "--workers", "-1"}, "--workers: expected an integer from 0 to 1024"},
		{[]string{"solve", path, "--fix-intrinsics", "--share-intrinsics"}, "exclude each other"},
		{[]string{"solve", path, "--min-focal", "5000"}, "ring.txt: ba: "},
		{[]string{"solve", path, "--plot-dir", broken}, "broken.txt: expected a folder"},
		{[]string{"solve", path, "--out", filepath.Join(dir, "no", "x")}, "no such file"},
		{[]string{"solve", path, "--out", filepath.Join(dir, "x.BZ2")}, "bzip2 is read only"},
		{[]string{"solve", path, "--ply", dir}, "is a folder"},
		{[]string{"solve", path, "--out", filepath.Join(dir, "x"), "--ply", filepath.Join(dir, "x")}, "--ply: expected another file"},
		{[]string{"solve", path, "--out", filepath.Join(dir, "x"), "--covariance", filepath.Join(dir, "x")}, "--covariance: expected another file"},
		{[]string{"solve", path, "--covariance", dir}, "is a folder"},
	} {
		status, stdout, stderr := run("", append([]string{"ba"}, c.args...)...)
		if status != 1 || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "bug") {
			t.Errorf("%v: exit status %d, %q, want 1 and %q", c.args, status, stderr, c.want)
		}
		if stdout != "" {
			t.Errorf("%v: an error only after\n%s", c.args, stdout)
		}
	}
	wantFiles(t, dir, "broken.txt")
}

func TestBAInfo(t *testing.T) {
	stdout := must(t, "ba", "info", bundleFile(t, "--start", "0", "--noise", "0"))
	for _, want := range []string{
		`: 8 cameras, 120 points, 600 observations\n`, `(?m)^ *observations of a point +2 +\d+ +5 +8$`,
		`(?m)^ *observations by a camera +\d+ +\d+ +75 +\d+$`, `(?m)^ *focal length +1000 +1000 +1000 +1000$`, `(?m)^ *k1( +-0.06){4}$`,
	} {
		if !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("the output has no %s:\n%s", want, stdout)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty.txt")
	if err := ba.WriteFile(empty, new(ba.Problem)); err != nil {
		t.Fatal(err)
	}
	if stdout := must(t, "ba", "info", empty); !strings.Contains(stdout, "0 cameras, 0 points, 0 observations") {
		t.Errorf("an empty problem:\n%s", stdout)
	}
}

// TestBAInterrupt interrupts a process that solves: it writes the best point.
func TestBAInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupts to send")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := bundleFile(t, "--kind", "city", "--cameras", "100", "--points", "5000", "--observations", "25000")
	dir := t.TempDir()
	cmd := exec.Command(exe, "ba", "solve", path, "--max-iter", "1000000", "--cost-tol", "0", "--gradient-tol", "0", "--step-tol", "0",
		"--out", "solved.txt", "--plot-dir", "results")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = interrupt(t, cmd, dir, "*") // the folder is made before the first iteration
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 130 || !strings.Contains(errs.String(), "interrupted") {
		t.Fatalf("%v, %s, want exit status 130", err, errs.String())
	}
	if !strings.Contains(out.String(), "cancelled after") {
		t.Errorf("the report is\n%s", out.String())
	}
	wantFiles(t, dir, "results", "solved.txt")
	p, err := ba.ReadFile(filepath.Join(dir, "solved.txt"))
	if err != nil {
		t.Fatal(err)
	}
	start, err := ba.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if e, most := bundle.ErrorsOf(p).RMS(), bundle.ErrorsOf(start).RMS(); !(e <= most) {
		t.Errorf("rms %v, more than the %v at the start", e, most)
	}
}
