package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"revnum/cluster"
	"revnum/cluster/cmd/command"
	"revnum/program/dataset"
	"revnum/revmodels/ba"
	"revnum/revmodels/gmm"
)

// onRanks runs the command on ranks that are goroutines, and returns the output of rank
// 0 and the largest status.
func onRanks(ctx context.Context, ranks int, args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	var mu sync.Mutex
	_ = cluster.Run(ranks, func(r cluster.Reducer) error {
		var o, e bytes.Buffer
		s := command.Run(ctx, r, dataset.Shards(), args, &o, &e)
		mu.Lock()
		defer mu.Unlock()
		status = max(status, s)
		_, _ = out.Write(o.Bytes())
		_, _ = errs.Write(e.Bytes())
		return nil
	})
	return status, out.String(), errs.String()
}

// csvFile writes a CSV file of points around three centres.
func csvFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "points.csv")
	rnd := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 900 {
		fmt.Fprintf(&b, "%g,%g\n", float64(i%3*8)+rnd.NormFloat64(), float64(i%3*5)+rnd.NormFloat64())
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	status, out, errs := onRanks(t.Context(), 2, "split", csvFile(t), dir, "--rows", "400")
	if want := "3 files written to " + dir + "\n"; status != 0 || out != want {
		t.Fatalf("status %d, %q %s, want %q", status, out, errs, want)
	}
	for _, model := range []string{"gmm", "kmeans"} {
		var want []byte
		for _, ranks := range []int{1, 3} {
			file := filepath.Join(t.TempDir(), "out.json")
			checkpoint := filepath.Join(t.TempDir(), "checkpoint.json")
			args := []string{model, "fit", "--shards", filepath.Join(dir, "*.npy"), "-k", "3", "--out", file, "--block", "100", "--checkpoint", checkpoint, "--every", "1"}
			for again := range 2 { // the second run starts from the checkpoint
				status, out, errs := onRanks(t.Context(), ranks, args...)
				if status != 0 || !strings.HasPrefix(out, fmt.Sprintf("900 points, 2 columns, 9 blocks, ranks: %d\n", ranks)) || strings.Count(out, "written to") != 1 {
					t.Fatalf("%v: status %d, %s%s", args, status, out, errs)
				}
				got, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s on %d ranks, time %d: another result", model, ranks, again)
				}
			}
			if status, _, errs := onRanks(t.Context(), ranks, append(args, "--seed", "2")...); status != 1 || !strings.Contains(errs, "a checkpoint of another fit: seed: expected 2, found 1") {
				t.Errorf("a checkpoint of another seed: status %d, %s", status, errs)
			}
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if status, _, errs := onRanks(cancelled, 2, "kmeans", "fit", "--shards", filepath.Join(dir, "*.npy")); status != 130 || errs != "interrupted\n" {
		t.Errorf("interrupted: status %d, %q", status, errs)
	}
}

// TestOtherPoints resumes from a checkpoint of files with the same names and shapes, in which
// one number differs.
func TestOtherPoints(t *testing.T) {
	dir, checkpoint := t.TempDir(), filepath.Join(t.TempDir(), "checkpoint.json")
	x := make([]float64, 400)
	for i := range x {
		x[i] = math.Sin(float64(i * i))
	}
	fit := func(folder string) (int, string) {
		folder = filepath.Join(dir, folder)
		if err := os.Mkdir(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a.npy", "b.npy"} {
			if err := dataset.WriteNpy(filepath.Join(folder, name), 200, 2, x); err != nil {
				t.Fatal(err)
			}
			x[399] += 0.5
		}
		status, _, errs := onRanks(t.Context(), 2, "gmm", "fit", "--shards", filepath.Join(folder, "*.npy"), "-k", "2", "--checkpoint", checkpoint, "--every", "1")
		return status, errs
	}
	if status, errs := fit("first"); status != 0 {
		t.Fatalf("status %d, %s", status, errs)
	}
	x[399] -= 1
	if status, errs := fit("same"); status != 0 {
		t.Errorf("the same numbers in another folder: status %d, %s", status, errs)
	}
	x[399] -= 1
	x[7] = -x[7]
	if status, errs := fit("other"); status != 1 || !strings.Contains(errs, "a checkpoint of another fit: shard 1: expected a.npy with 200×2 numbers and the hash ") {
		t.Errorf("other numbers: status %d, %s", status, errs)
	}
	text, err := os.ReadFile(checkpoint)
	if err == nil {
		err = os.WriteFile(checkpoint, []byte(strings.Replace(string(text), `["version","`, `["version","v0.`, 1)), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	if status, errs := fit("version"); status != 1 || !strings.Contains(errs, "a checkpoint of another fit: version: expected ") {
		t.Errorf("another version: status %d, %s", status, errs)
	}
}

// TestDifference compares lists of facts.
func TestDifference(t *testing.T) {
	facts := []command.Fact{{"model", "gmm"}, {"seed", "1"}}
	for _, c := range []struct {
		found []command.Fact
		want  string
	}{
		{facts, ""},
		{[]command.Fact{{"model", "gmm"}, {"seed", "2"}}, "seed: expected 1, found 2"},
		{facts[:1], "seed: expected 1, found nothing"},
		{append(facts[:2:2], command.Fact{"shard 1", "a"}), "found shard 1: a, expected nothing of the kind"},
		{[]command.Fact{{"kind", "full"}, {"seed", "1"}}, "found kind: full, expected nothing of the kind"},
	} {
		if got := command.Difference(facts, c.found); got != c.want {
			t.Errorf("%v: %q, want %q", c.found, got, c.want)
		}
	}
}

func TestSolve(t *testing.T) {
	problem, _, err := ba.Generate(&ba.GenerateOptions{Cameras: 6, Points: 100, Observations: 400, Noise: 0.5, Start: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "problem.txt")
	if err := ba.WriteFile(file, problem); err != nil {
		t.Fatal(err)
	}
	var want []byte
	for i, ranks := range []int{1, 3, 2} { // the last begins with the checkpoint of the second
		solved := filepath.Join(dir, "solved.txt")
		args := []string{"ba", "solve", file, "--out", solved, "--block", "100", "--every", "2"}
		if i > 0 {
			args = append(args, "--checkpoint", filepath.Join(dir, "checkpoint.json"))
		}
		status, out, errs := onRanks(t.Context(), ranks, args...)
		if status != 0 || !strings.Contains(out, "cost converged") {
			t.Fatalf("status %d, %s%s", status, out, errs)
		}
		got, err := os.ReadFile(solved)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d ranks: another solution", ranks)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "checkpoint.json")); err != nil {
		t.Error(err)
	}
	if status, _, errs := onRanks(t.Context(), 2, "ba", "solve", file, "--block", "50", "--checkpoint", filepath.Join(dir, "checkpoint.json")); status != 1 || !strings.Contains(errs, "a checkpoint of another fit") {
		t.Errorf("a checkpoint of other blocks: status %d, %s", status, errs)
	}
	problem.Features[0]++
	other := filepath.Join(dir, "other.txt")
	if err := ba.WriteFile(other, problem); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := onRanks(t.Context(), 2, "ba", "solve", other, "--block", "100", "--checkpoint", filepath.Join(dir, "checkpoint.json")); status != 1 || !strings.Contains(errs, "a checkpoint of another fit: problem: expected ") {
		t.Errorf("a checkpoint of another problem: status %d, %s", status, errs)
	}
	if status, _, errs := onRanks(t.Context(), 2, "ba", "solve", filepath.Join(dir, "none")); status != 1 || !strings.Contains(errs, "none") {
		t.Errorf("no file: status %d, %s", status, errs)
	}
}

func TestCompletion(t *testing.T) {
	if _, stdout, _ := onRanks(t.Context(), 1, "__complete", "gmm", "fit", "--covariance", ""); !slices.Contains(strings.Fields(stdout), "diagonal") {
		t.Errorf("covariances: %s", stdout)
	}
}

func TestErrors(t *testing.T) {
	csv, same := csvFile(t), filepath.Join(t.TempDir(), "x")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"gmm", "fit", "--shards", "missing-*.npy", "-k", "2"}, "missing-*.npy: no such file"},
		{[]string{"gmm", "fit", "--shards", csv}, "points.csv: expected a name that ends in one of .bin, .f64, .npy, .raw"},
		{[]string{"gmm", "fit", "--shards", csv, "--block", "0"}, "--block"},
		{[]string{"gmm", "fit", "--shards", csv, "--max-iter", "0"}, "--max-iter: expected an integer from 1 to 1048576"},
		{[]string{"kmeans", "fit", "--shards", csv, "--tolerance", "NaN"}, `--tolerance: expected a number from 1e-300 to 1e+100, found "NaN"`},
		{[]string{"ba", "solve", csv, "--huber", "-1"}, "--huber: expected a number from 0 to 1e+100"},
		{[]string{"ba", "solve", csv, "--max-iter", "0"}, "--max-iter: expected an integer from 1 to 1048576"},
		{[]string{"gmm", "fit"}, `required flag(s) "shards" not set`},
		{[]string{"split", csv, t.TempDir(), "--rows", "0"}, "--rows: expected an integer from 1 to"},
		{[]string{"measure", "--columns", "1000000"}, "--columns: points of 1000000 columns need "},
		{[]string{"measure", "--workers", "-1"}, "--workers: expected an integer from 0 to"},
		{[]string{"gmm", "fit", "--shards", csv, "-k", "9223372036854775807"}, "--components: expected an integer from 1 to"},
		{[]string{"gmm", "fit", "--shards", csv, "--out", csv}, "points.csv is an input"},
		{[]string{"kmeans", "fit", "--shards", csv, "--checkpoint", csv}, "--checkpoint: " + csv + " is an input"},
		{[]string{"kmeans", "fit", "--shards", csv, "--out", same, "--checkpoint", same}, "--checkpoint: expected another file than that of --out"},
		{[]string{"ba", "solve", csv, "--out", csv}, "--out: " + csv + " is an input"},
		{[]string{"gmm", "fit", "--shards", csv, "--checkpoint", filepath.Join(same, "no", "x")}, "--checkpoint: "},
		{[]string{"measure", "--points", "0"}, "--points: expected an integer from 1 to"},
	} {
		if status, _, errs := onRanks(t.Context(), 2, c.args...); status != 1 || strings.Count(errs, c.want) != 1 {
			t.Errorf("%v: status %d, %q, want %q once", c.args, status, errs, c.want)
		}
	}
}

func TestMeasure(t *testing.T) {
	status, out, errs := onRanks(t.Context(), 2, "measure", "--points", "2000", "--columns", "2", "-k", "3", "--iterations", "5")
	if status != 0 || !strings.Contains(out, "broadcast and reduction: least") {
		t.Errorf("status %d, %s%s", status, out, errs)
	}
}

// TestStdout writes the mixture to standard output, and the report to standard error.
func TestStdout(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if status, _, errs := onRanks(t.Context(), 1, "split", csvFile(t), dir); status != 0 {
		t.Fatal(errs)
	}
	status, out, errs := onRanks(t.Context(), 2, "gmm", "fit", "--shards", filepath.Join(dir, "*.npy"), "-o", "-")
	m := new(gmm.Mixture)
	if err := json.Unmarshal([]byte(out), m); err != nil || status != 0 || m.Dim() != 2 || !strings.Contains(errs, "900 points") {
		t.Errorf("status %d, %v, %q, %q", status, err, out, errs)
	}
	// A device has no state to resume from.
	status, _, errs = onRanks(t.Context(), 2, "gmm", "fit", "--shards", filepath.Join(dir, "*.npy"), "--checkpoint", os.DevNull)
	if want := os.DevNull + ": expected a regular file with a checkpoint"; status != 1 || !strings.Contains(errs, want) {
		t.Errorf("status %d, %q, want %q", status, errs, want)
	}
	csv := filepath.Join(dir, "part-00000.npy")
	if status, _, errs := onRanks(t.Context(), 1, "split", csv, dir, "--force"); status != 1 || !strings.Contains(errs, "is a part in the folder") {
		t.Errorf("status %d, %q", status, errs)
	}
}

// broken is a Reducer whose sums panic, as a bug would.
type broken struct{ cluster.Reducer }

func (broken) Sum([]int64) error { panic("ouch") }

func TestBug(t *testing.T) {
	var out, errs bytes.Buffer
	status := command.Run(t.Context(), broken{cluster.Alone()}, dataset.Shards(), []string{"gmm", "fit", "--shards", "missing"}, &out, &errs)
	if want := "revcluster: this is a bug in revnum: ouch (REVNUM_TRACE=1 shows where)\n"; status != 1 || errs.String() != want {
		t.Errorf("status %d, %q, want %q", status, errs.String(), want)
	}
}
