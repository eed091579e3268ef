package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConsistency(t *testing.T) {
	file := filepath.Join(t.TempDir(), "consistency.png")
	stdout := must(t, "consistency", "--out", file)
	for _, want := range []string{
		"wanted: p = 0.554355244468527 with output 1\n",
		"f1, float64      p = 1.6000000000000", " with output 5.33603",
		"f2, float64      p = 0.5543552444685", "f2, fixed point  p = 0.5543552444",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("printed\n%swithout %q", stdout, want)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		t.Errorf("the figure: %v", err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"consistency", "--steps", "0"}, "--steps: expected an integer from 1 to 1048576, found"},
		{[]string{"consistency", "--steps", "2000000"}, "--steps: expected an integer from 1 to 1048576, found"},
		{[]string{"consistency", "--target", "-1.5"}, "--target: expected more than -exp(x) = -1.35"},
		{[]string{"consistency", "--x", "NaN"}, `--x: expected a number from -10 to 10, found "NaN"`},
		{[]string{"consistency", "--target", "10", "--p", "0.1"}, "f2, float64: step 1: the output is NaN"},
	} {
		status, _, stderr := run("", c.args...)
		if status != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit status %d, %q, want 1 and %q", c.args, status, stderr, c.want)
		}
	}
}
