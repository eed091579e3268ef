package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"revnum/benchmarks/internal/evals"
	"revnum/benchmarks/internal/evals/evalstest"
)

// TestEvals wants the table, the figure and the ratios, and a line for each tool and reason.
func TestEvals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins are scripts for a shell")
	}
	dir, python := evalstest.Checkout(t)
	out := t.TempDir()
	table, plot := filepath.Join(out, "evals.csv"), filepath.Join(out, "speed.svg")
	args := []string{"peers", "evals", dir, "--python", python, "--tool", "good,wrong,broken,slow,revnum"}
	status, stdout, stderr := run("", append(args, "-o", table, "--plot", plot)...)
	if status != 0 {
		t.Fatalf("exit status %d: %s", status, stderr)
	}
	want := `broken: crash, det: det.cpp:1:10: fatal error: codi.hpp: No such file or directory
good: crash: the eval ended early: AttributeError: no file
slow: det: not run, as GradBench expects the outcome timeout
slow: crash: the eval ended early: AttributeError: no file
wrong: crash, det: f n=2 is invalid: Found 1 mismatches, showing 1:
`
	if stderr != want {
		t.Errorf("%s\nwant\n%s", stderr, want)
	}
	if !strings.HasSuffix(strings.Join(strings.Fields(stdout), " "), "revnum: det f 2 to 2 2 to 2 1.5 to 1.5 n=2, good") {
		t.Errorf("the table is\n%s", stdout)
	}
	if rows, err := evals.Load(table); err != nil || len(rows) != 8 {
		t.Errorf("%v, %v, want 8 rows", rows, err)
	}
	wantFiles(t, out, "evals.csv", "speed.svg")

	// A script is a tool with the evals that it says it has.
	must(t, "peers", "evals", dir, "--python", python, "--tool", "own=own.py", "--eval", "det", "-o", table)
	want = "f,n=2,own,1,1,7,7,7,valid"
	if text, err := os.ReadFile(table); err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%s (%v), want %s", text, err, want)
	}

	// The arguments of an eval reach it.
	must(t, append(args, "--eval", "det -n 17")...)
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil || !strings.Contains(string(calls), "17") {
		t.Errorf("the eval was not run with -n 17 (%v):\n%s", err, calls)
	}
}

// An interrupt ends the tool, and leaves what other tools had. It is completed by --add.
func TestEvalsInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupts to send")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, python := evalstest.Checkout(t)
	temporary, out := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	cmd := exec.Command(exe, "peers", "evals", dir, "--python", python, "--tool", "good,hang", "--eval", "det", "--out", filepath.Join(out, "evals.csv"))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	err = interrupt(t, cmd, out, "evals.csv")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 130 || !bytes.Contains(errs.Bytes(), []byte("interrupted")) {
		t.Errorf("%v, %s, want exit status 130", err, errs.String())
	}
	wantFiles(t, temporary)
	wantFiles(t, out, "evals.csv")
	table := filepath.Join(out, "evals.csv")
	before, err := evals.Load(table)
	if err != nil || len(before) == 0 {
		t.Fatal(before, err)
	}
	must(t, "peers", "evals", dir, "--python", python, "--tool", "good,revnum", "--eval", "det", "-o", table, "--add")
	after, err := evals.Load(table)
	if err != nil || len(after) <= len(before) || after[0].Tool != "good" || after[len(after)-1].Tool != "revnum" {
		t.Errorf("%v (%v) after %v", after, err, before)
	}
	if status, _, stderr := run("", "peers", "evals", dir, "--python", python, "--tool", "good", "--add"); status == 0 || !strings.Contains(stderr, "--add: needs --out") {
		t.Errorf("exit status %d: %s", status, stderr)
	}
}
