package main

import (
	"strings"
	"testing"
)

func TestForkJoin(t *testing.T) {
	stdout := must(t, "forkjoin", "--scale", "4", "--time", "5ms")
	for _, want := range []string{"scalar multiplication", "dot product of 4000", "rotation", "network", "4 particles", "faster by"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if status, _, stderr := run("", "forkjoin", "--scale", "0"); status != 1 || !strings.Contains(stderr, "--scale: expected an integer from 1 to 100000") {
		t.Errorf("exit status %d, %q", status, stderr)
	}
	if status, _, stderr := run("", "forkjoin", "--time", "-1s"); status != 1 || !strings.Contains(stderr, `--time: expected a duration from 1ns to 1h0m0s, found "-1s"`) {
		t.Errorf("exit status %d, %q", status, stderr)
	}
}
