package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestNBody(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nbody")
	stdout := must(t, "nbody", "--steps", "1000", "--out", dir)
	wantFiles(t, dir, "energy.png", "energy.svg", "nbody.csv", "nbody.txt", "roundoff.png", "roundoff.svg")
	if n := strings.Count(stdout, "0, every bit"); n < 4 {
		t.Errorf("%d round trips come back to every bit:\n%s", n, stdout)
	}
	f, err := os.Open(filepath.Join(dir, "nbody.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]float64{}
	for _, r := range records[1:] {
		v, err := strconv.ParseFloat(r[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		last[r[0]+" "+r[1]] = v
	}
	if last["round trip fixed.Q43"] != 0 || !(last["round trip float64"] > 0 && last["round trip float64"] < 1e-9) ||
		!(last["round trip float32"] > 1e-6) || !(last["energy Yoshida8"] < last["energy Leapfrog"]) || len(last) != 8 {
		t.Errorf("the last errors are %v", last)
	}
}

func TestNBodyBadInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"nbody", "--steps", "0"}, "--steps: expected an integer from 1 to 1073741824, found"},
		{[]string{"nbody", "--out", "nbody_test.go"}, "nbody_test.go: expected a folder"},
	} {
		status, stdout, stderr := run("", c.args...)
		if status != 1 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit status %d, %q, %q, want 1 and %q", c.args, status, stdout, stderr, c.want)
		}
	}
}
