package main

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"revnum/benchmarks/internal/acoustics"
	"revnum/internal/long"
)

func TestWave(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "wave")
	shots := strconv.Itoa(long.Or(acoustics.MostShots, 1))
	stdout := must(t, "wave", "--size", "30", "--steps", "60", "--shots", shots, "--iterations", "2", "--time", "1ms", "--out", dir)
	wantFiles(t, dir, "inversion.png", "wave.txt")
	for _, want := range []string{"float64", "float32", "fixed.Q43", "gradient over 60 steps", "back to every bit"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	m := regexp.MustCompile(`misfit (\S+) -> (\S+);`).FindStringSubmatch(stdout)
	if m == nil {
		t.Fatalf("no misfit in\n%s", stdout)
	}
	before, err1 := strconv.ParseFloat(m[1], 64)
	after, err2 := strconv.ParseFloat(m[2], 64)
	if err1 != nil || err2 != nil || !(after < before) {
		t.Errorf("the misfit goes from %s to %s", m[1], m[2])
	}
}

func TestWaveBadInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"wave", "--size", "7"}, "--size: expected an integer from 8 to 8192, found"},
		{[]string{"wave", "--size", "100000"}, "--size: expected an integer from 8 to 8192, found"},
		{[]string{"wave", "--steps", "2000000"}, "--steps: expected an integer from 1 to 1048576, found"},
		{[]string{"wave", "--steps", "0"}, "--steps: expected an integer from 1 to 1048576, found"},
		{[]string{"wave", "--shots", "7"}, "--shots: expected an integer from 1 to 6, found"},
		{[]string{"wave", "--iterations", "-1"}, "--iterations: expected an integer from 1 to 1048576, found"},
		{[]string{"wave", "--out", "wave_test.go"}, "wave_test.go: expected a folder"},
	} {
		status, stdout, stderr := run("", c.args...)
		if status != 1 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit status %d, %q, %q, want 1 and %q", c.args, status, stdout, stderr, c.want)
		}
	}
}
