package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestExactness(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "exactness")
	stdout := must(t, "exactness", "--planets", "100", "--training", "10", "--rates", "10", "--out", dir)
	wantFiles(t, dir, "exactness.csv", "exactness.txt", "planets.png", "planets.svg", "rates.png", "rates.svg", "training.png", "training.svg")
	for text, n := range map[string]int{"every bit": 2 + 3 + 1, "other bits": 0} {
		if got := strings.Count(stdout, text); got != n {
			t.Errorf("%q %d times, want %d:\n%s", text, got, n, stdout)
		}
	}
}
