package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"revnum/internal/long"
)

func TestSparse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sparse")
	stdout := must(t, "sparse", "--rows", "300", "--entries", "7", "--time", "1ms", "--out", dir)
	wantFiles(t, dir, "sparse.csv", "sparse.json", "sparse.txt")
	text, err := os.ReadFile(filepath.Join(dir, "sparse.txt"))
	if err != nil || !strings.HasPrefix(stdout, string(text)) {
		t.Errorf("printed\n%sbut wrote\n%s(%v)", stdout, text, err)
	}
	for _, want := range []string{
		"\nlaplacian, 289×289, 1377 entries, less than 64 MiB: no bars\n", "\nbanded, 300×300, 2100 entries, ", "\nuniform, 300×300, 2100 entries, ", "\npower-law, 300×300, ",
		"\ndensity 0.05, 1000×1000, 50000 entries\n", "\nC += A·B, 64 columns ", "\nC += A·B, 1000 columns ", "\nr += Σ A_ij·B_ij ",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the output has no %q:\n%s", want, stdout)
		}
	}

	var report struct {
		Reading []float64
		Rows    []struct {
			Matrix, Call string
			Workers      int
			Time         float64 `json:"seconds"`
			Flops        float64 `json:"flops_per_second"`
			Ratio        float64
			AtMost       float64 `json:"at_most"`
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "sparse.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &report); err != nil {
		t.Fatal(err)
	}
	if !(report.Reading[1] > 0 && report.Reading[2] > 0) {
		t.Errorf("read %v B/s", report.Reading)
	}
	// The rows of one worker and of two: for each of four matrices, in the paper's
	// case for one column, several and the dot product.
	var workers []int
	for _, rows := range []int{3, 3, 3, 3, 3, 4, 4, 2} {
		for w := 1; w <= 2; w++ {
			workers = append(workers, slices.Repeat([]int{w}, rows)...)
		}
	}
	if len(report.Rows) != len(workers) {
		t.Fatalf("%d rows, want %d", len(report.Rows), len(workers))
	}
	bars := 0
	for i, r := range report.Rows {
		if !(r.Time > 0) || !(r.Ratio > 0) || r.Workers != workers[i] {
			t.Errorf("%+v", r)
		}
		if strings.HasSuffix(r.Call, "64 columns") {
			if f := r.Flops * r.Time; !(f > 0.999*2*64*50000 && f < 1.001*2*64*50000) {
				t.Errorf("%v operations, want two for each entry and column", f)
			}
		}
		if r.AtMost > 0 {
			bars++
		}
	}
	// Three of the paper's cases have all gradients and the loop. One case of several
	// columns also has the gradients alone. The matrices are small.
	if want := 3*(2+1) + 2; bars != want {
		t.Errorf("%d ratios have bars, want %d", bars, want)
	}

	f, err := os.Open(filepath.Join(dir, "sparse.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil || len(records) != 1+len(report.Rows) || records[0][8] != "ratio" {
		t.Fatalf("sparse.csv holds %q, %v", records, err)
	}
	for i, r := range report.Rows {
		if v, err := strconv.ParseFloat(records[i+1][8], 64); err != nil || v != r.Ratio {
			t.Errorf("row %d of sparse.csv has the ratio %v, %v, want %v", i, v, err, r.Ratio)
		}
	}
}

func TestSparseFile(t *testing.T) {
	if !long.Tests() {
		t.Skip("measures the paper's cases again")
	}
	path := filepath.Join(t.TempDir(), "chain.mtx")
	const file = "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 2\n2 1 -1\n2 2 2\n3 2 -1\n3 3 2\n"
	if err := os.WriteFile(path, []byte(file), 0o666); err != nil {
		t.Fatal(err)
	}
	if stdout := must(t, "sparse", path, "--time", "1ms"); !strings.Contains(stdout, "\nchain.mtx, 3×3, 7 entries, less than 64 MiB: no bars\n") || strings.Contains(stdout, "laplacian") {
		t.Errorf("printed\n%s", stdout)
	}
}

func TestSparseBadInput(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const banner = "%%MatrixMarket matrix coordinate "
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"a.mtx", "b.mtx"}, "accepts at most 1 arg(s), received 2"},
		{[]string{"--kind", "magic"}, `--kind: expected all or one of laplacian, banded, uniform, power-law, found "magic"`},
		{[]string{"--time", "0s"}, "--time: expected a duration from 1ns"},
		{[]string{"--rows", "0"}, "--rows: expected an integer from 1 to 100000000"},
		{[]string{"--rows", "20000000"}, "100000000 entries at most, found 20000000 and 10"},
		{[]string{"--rows", "5"}, "expected at most 5 entries in a row, as there are columns, found 10"},
		{[]string{"--rows", "x"}, `--rows: expected an integer from 1 to 100000000, found "x"`},
		{[]string{"a.mtx", "--kind", "banded"}, "expected either a file or --kind, --rows, --entries and --seed, found both"},
		{[]string{filepath.Join(dir, "none.mtx")}, "none.mtx: no such file"},
		{[]string{file("bad.mtx", banner+"real general\n2 2 1\n1 3 1\n")}, `bad.mtx:3: expected a column from 1 to 2, found "3"`},
		{[]string{file("complex.mtx", banner+"complex general\n1 1 1\n1 1 1 1\n")}, "complex.mtx:1: expected real numbers, found a complex matrix"},
		{[]string{file("empty.mtx", banner+"real general\n2 2 0\n")}, "empty.mtx: expected a matrix with entries, found 2×2 with 0"},
		{[]string{file("nan.mtx", banner+"real general\n1 1 1\n1 1 NaN\n")}, "nan.mtx: expected finite numbers, found NaN"},
		{[]string{"--out", filepath.Join(dir, "no", "such")}, "no such file"},
	} {
		status, stdout, stderr := run("", append([]string{"sparse"}, c.args...)...)
		if status != 1 || stdout != "" || !strings.HasPrefix(stderr, "benchmarks: ") || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "bug") {
			t.Errorf("%v: exit status %d, %q, %q, want 1 and %q", c.args, status, stdout, stderr, c.want)
		}
	}
}
