package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNumbers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "numbers")
	stdout := must(t, "numbers", "--steps", "100", "--time", "50us", "--out", dir)
	wantFiles(t, dir, "bars.csv", "numbers.csv", "numbers.json", "numbers.txt")
	text, err := os.ReadFile(filepath.Join(dir, "numbers.txt"))
	if err != nil || !strings.HasPrefix(stdout, string(text)) {
		t.Errorf("printed\n%sbut wrote\n%s(%v)", stdout, text, err)
	}

	var report struct {
		RoundTrips []struct {
			Number string  `json:"number"`
			Steps  int     `json:"steps"`
			Moved  float64 `json:"moved"`
			Error  float64 `json:"error"`
			Exact  bool    `json:"exact"`
		} `json:"round_trips"`
		Bars []struct {
			Name string  `json:"name"`
			Time float64 `json:"seconds"`
		} `json:"bars"`
	}
	b, err := os.ReadFile(filepath.Join(dir, "numbers.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &report); err != nil {
		t.Fatal(err)
	}
	exact := map[string]bool{
		"float32": false, "float64": false, "fixed.Q43": true,
		"ulog.Float32": false, "ulog.Float64": false, "ulog.Fixed": true,
	}
	for _, r := range report.RoundTrips {
		want, ok := exact[r.Number]
		if !ok || r.Exact != want || (r.Error == 0) != want || r.Steps != 100 || !(r.Moved > 0.1) {
			t.Errorf("%+v", r)
		}
		delete(exact, r.Number)
	}
	if len(exact) > 0 {
		t.Errorf("nothing about %v", exact)
	}

	for name, want := range map[string]struct {
		rows   int
		column string
	}{"numbers.csv": {len(report.RoundTrips), "error"}, "bars.csv": {len(report.Bars), "ratio"}} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(f).ReadAll()
		_ = f.Close()
		if err != nil || len(records) != 1+want.rows || want.rows < 6 || records[0][4] != want.column {
			t.Errorf("%s holds %q, %v", name, records, err)
		}
	}
	if lines := strings.Count(stdout, "0, every bit"); lines != 2 {
		t.Errorf("%d types come back to every bit, want 2:\n%s", lines, stdout)
	}
}

func TestNumbersBadInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"numbers", "--steps", "-1"}, "--steps: expected an integer from 0 to 1073741824, found"},
		{[]string{"numbers", "--steps", "x"}, `--steps: expected an integer from 0 to 1073741824, found "x"`},
		{[]string{"numbers", "--time", "0s"}, "--time: expected a duration from 1ns"},
		{[]string{"numbers", "x"}, `unknown command "x"`},
		{[]string{"numbers", "--out", filepath.Join(t.TempDir(), "no", "such")}, "no such file"},
		{[]string{"numbers", "--out", "numbers_test.go"}, "numbers_test.go: expected a folder"},
	} {
		status, stdout, stderr := run("", c.args...)
		if status != 1 || stdout != "" || !strings.HasPrefix(stderr, "benchmarks: ") || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit status %d, %q, %q, want 1 and %q", c.args, status, stdout, stderr, c.want)
		}
	}
}
