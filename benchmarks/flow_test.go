package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestFlow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "flows")
	stdout := must(t, "flow", "--steps", "3", "--most", "4", "--time", "1ms", "--hidden", "4", "--data", "rings", "--kind", "nice", "--out", dir)
	wantFiles(t, dir, "memory.csv", "memory.png", "rings-NICE-density.png", "rings-NICE-loss.png", "rings-NICE-samples.png")
	if !strings.HasPrefix(stdout, "rings, NICE of 8 couplings: mean of -log p ") || strings.Count(stdout, "\n") != 8 {
		t.Errorf("printed\n%s", stdout)
	}
}

func TestFlowBadInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"flow", "--kind", "x"}, `--kind: expected nice or realnvp, found "x"`},
		{[]string{"flow", "--data", "x"}, `--data: unknown set of points "x", want one of board, moons, rings, spirals`},
		{[]string{"flow", "--steps", "0"}, "--steps: expected an integer from 1 to 1048576, found"},
		{[]string{"flow", "--most", "0"}, "--most: expected an integer from 1 to 256, found"},
		{[]string{"flow", "--couplings", "0"}, "--couplings: expected an integer from 1 to 256"},
		{[]string{"flow", "--time", "0s"}, "--time: expected a duration from 1ns"},
		{[]string{"flow", "--out", "flow_test.go"}, "flow_test.go: expected a folder"},
	} {
		status, stdout, stderr := run("", c.args...)
		if status != 1 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit status %d, %q, %q, want 1 and %q", c.args, status, stdout, stderr, c.want)
		}
	}
}
