package evals

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"revnum/benchmarks/internal/evals/evalstest"
)

func checkout(t *testing.T) *Checkout {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins are scripts for a shell")
	}
	dir, python := evalstest.Checkout(t)
	c := &Checkout{Dir: dir, Python: python, MinSeconds: 0.25, Timeout: 90 * time.Second}
	if err := c.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRun wants from each log what the tool of its name did.
func TestRun(t *testing.T) {
	c := checkout(t)
	f := Row{Eval: "det", Function: "f", Size: "n=2", MinSeconds: 0.25}
	row := func(runs int, first, least, mean float64, outcome string) Row {
		r := f
		r.Runs, r.First, r.Min, r.Mean, r.Outcome = runs, first, least, mean, outcome
		return r
	}
	g := row(1, 50, 50, 50, valid)
	g.Function, g.Size = "g", "1.5"
	lost := g
	lost.Runs, lost.First, lost.Min, lost.Mean, lost.Outcome = 0, 0, 0, 0, silent
	for _, v := range []struct {
		tool   string
		rows   []Row
		reason string
	}{
		{"good", []Row{row(3, 30, 10, 20, valid), g}, ""},
		{"wrong", []Row{row(1, 1, 1, 1, invalid)}, "f n=2 is invalid: Found 1 mismatches, showing 1:"},
		{"broken", nil, "det.cpp:1:10: fatal error: codi.hpp: No such file or directory"},
		{"failing", []Row{row(0, 0, 0, 0, failed)}, "f n=2: terminated with return code -9 and stderr:"},
		{"dying", []Row{row(1, 3, 3, 3, valid), lost}, "the tool ended: MemoryError: out of memory"},
		{"late", []Row{row(0, 0, 0, 0, silent)}, "no answer in 1m30s"},
	} {
		tool, err := c.Tool(v.tool)
		if err != nil {
			t.Fatal(err)
		}
		rows, failure, err := c.Run(t.Context(), Eval{Name: "det", Args: []string{"-n", "2"}}, tool)
		if err != nil {
			t.Errorf("%s: %v", v.tool, err)
			continue
		}
		if len(rows) != len(v.rows) {
			t.Errorf("%s: %+v, want %+v", v.tool, rows, v.rows)
			continue
		}
		for i, want := range v.rows {
			if want.Tool = v.tool; rows[i] != want {
				t.Errorf("%s: %+v, want %+v", v.tool, rows[i], want)
			}
		}
		if got := (Failure{}); failure != nil && *failure != (Failure{v.tool, "det", v.reason}) || failure == nil && v.reason != "" {
			if failure != nil {
				got = *failure
			}
			t.Errorf("%s: %+v, want %q", v.tool, got, v.reason)
		}
	}
	calls, err := os.ReadFile(filepath.Join(c.Dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(calls), "-n") || !strings.Contains(string(calls), "0.25") || !strings.Contains(string(calls), "--timeout 90") {
		t.Errorf("the command had no arguments of the eval, or of the run:\n%s", calls)
	}
}

// TestRunCrash wants the rows of an eval that ended early, and its last words.
func TestRunCrash(t *testing.T) {
	c := checkout(t)
	tool, err := c.Tool("good")
	if err != nil {
		t.Fatal(err)
	}
	rows, failure, err := c.Run(t.Context(), Eval{Name: "crash"}, tool)
	if err != nil {
		t.Fatal(err)
	}
	if want := "the eval ended early: AttributeError: no file"; len(rows) != 2 || failure == nil || failure.Reason != want {
		t.Errorf("%+v, %+v, want 2 rows and %q", rows, failure, want)
	}
}

func TestTool(t *testing.T) {
	c := checkout(t)
	for name, want := range map[string]string{
		"script": "tools/script/run.py", "good": "cpp.py good", "image": "neither in C++ nor in Python", "none": "no tool of GradBench",
	} {
		tool, err := c.Tool(name)
		got := strings.Join(tool.Command, " ")
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	slow, err := c.Tool("slow")
	if err != nil || len(slow.Evals) != 1 || slow.Fails["det"] != "timeout" {
		t.Errorf("%+v, %v, want crash alone, and that det takes too long", slow, err)
	}
}

func TestBuildFails(t *testing.T) {
	c := checkout(t)
	if err := os.WriteFile(filepath.Join(c.Dir, "bin", "make"), []byte("#!/bin/sh\necho 'fatal error: json.hpp: No such file'\necho end\nexit 2\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	if err := c.Build(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "fatal error: json.hpp: No such file") {
		t.Errorf("%v, want the reason", err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := c.Build(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "executable file not found in $PATH") {
		t.Errorf("%v, want that cargo is not found", err)
	}
}

// TestEnvironment wants no variable that slows a peer down.
func TestEnvironment(t *testing.T) {
	t.Setenv("OPENBLAS_CORETYPE", "Haswell")
	t.Setenv("OPENBLAS_L2_SIZE", "1")
	t.Setenv("CPLUS_INCLUDE_PATH", "/mine")
	c := Checkout{Dir: "/gb", Codipack: "/codi", Enzyme: "/enzyme"}
	values := map[string]string{}
	for _, v := range c.environment("/logs") {
		name, value, _ := strings.Cut(v, "=")
		values[name] = value
	}
	for name, want := range map[string]string{
		"OPENBLAS_CORETYPE": "", "OPENBLAS_L2_SIZE": "", "OMP_NUM_THREADS": "1", "NPROC": "1", "ENZYME_LIB": "/enzyme", "TMPDIR": "/logs",
		"CPLUS_INCLUDE_PATH": strings.Join([]string{"/gb/cpp", "/usr/include/nlohmann", "/codi/include", "/mine"}, string(os.PathListSeparator)),
	} {
		if values[name] != want {
			t.Errorf("%s=%s, want %q", name, values[name], want)
		}
	}
}

func TestRunCanceled(t *testing.T) {
	c := checkout(t)
	tool, err := c.Tool("hang")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if rows, _, err := c.Run(ctx, Eval{Name: "det"}, tool); rows != nil || err == nil {
		t.Errorf("%v, %v, want an error alone", rows, err)
	}
}
