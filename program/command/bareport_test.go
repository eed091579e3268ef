package command_test

import (
	"strings"
	"testing"
	"time"

	"revnum/program/command"
	"revnum/revmodels/ba"
)

func TestProgressLine(t *testing.T) {
	it := ba.Iteration{Cost: 12345.678, Gradient: 5.5e6, Radius: 1e4, Elapsed: 1500 * time.Millisecond}
	start := command.ProgressLine(it)
	it.Number, it.Taken, it.Step, it.Linear = 12, true, 0.25, 7
	taken := command.ProgressLine(it)
	it.Taken = false
	refused := command.ProgressLine(it)
	if want := "iteration           cost    gradient        step      radius    gain  linear   elapsed\n" +
		"        0      12345.678     5.5e+06           0       1e+04   0.000       0      1.5s\n"; start != want {
		t.Errorf("start:\n%swant\n%s", start, want)
	}
	if want := "       12      12345.678     5.5e+06        0.25       1e+04   0.000       7      1.5s\n"; taken != want || refused != strings.TrimSuffix(want, "\n")+"  refused\n" {
		t.Errorf("steps:\n%s%swant\n%s", taken, refused, want)
	}
}
