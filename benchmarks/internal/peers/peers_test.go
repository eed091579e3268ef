package peers

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"revnum/rules"
)

var all = map[string]bool{"float64": true, "float32": true, "complex128": true}

// Every kernel has a line, and every name in the program of peers is that of a kernel.
func TestCases(t *testing.T) {
	kernels, names := map[string]bool{}, map[string]bool{}
	for _, c := range Cases(all) {
		if names[c.Name()] {
			t.Errorf("two cases are called %s", c.Name())
		}
		names[c.Name()], kernels[c.Rule.Kernel] = true, true
	}
	for _, r := range rules.All() {
		if r.Missing == "" && all[r.Type.String()] && !kernels[r.Kernel] {
			t.Errorf("%s has no case", r.Kernel)
		}
	}
	for _, m := range regexp.MustCompile(`"(rev[a-z]+\.[A-Z]\w*)"`).FindAllSubmatch(script, -1) {
		if !kernels[string(m[1])] {
			t.Errorf("peers.py: there is no kernel %s", m[1])
		}
	}
}

// start starts the peers, and skips the test where Python has no NumPy.
func start(t *testing.T) *Session {
	t.Helper()
	if err := exec.CommandContext(t.Context(), "python3", "-c", "import numpy").Run(); err != nil {
		t.Skip("python3 has no numpy: ", err)
	}
	s, err := Start(context.WithoutCancel(t.Context()), "python3", 1) // Close comes after the end of the context
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Every peer computes what the kernel does.
func TestPeers(t *testing.T) {
	s := start(t)
	done := map[string]bool{}
	var results []Result
	for _, c := range Cases(all) {
		if done[c.Rule.Name] { // by a smaller case
			continue
		}
		done[c.Rule.Name] = true
		rs, err := s.Measure(t.Context(), c, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for name, d := range rs[0].Differences {
			t.Errorf("%s: %s differs by %v", c.Name(), name, d)
		}
		for _, r := range rs {
			if r.Failed != "" || !(r.Ours > 0) || r.Peer != "" && !(r.Ratio > 0) {
				t.Errorf("%s %s: %+v", r.Case, r.Pass, r)
			}
		}
		results = append(results, rs...)
	}
	var table, csv bytes.Buffer
	if err := WriteTable(&table, results); err != nil {
		t.Fatal(err)
	}
	if err := WriteCSV(&csv, results); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(table.String(), "\n"); n != len(results)+1 {
		t.Errorf("the table has %d lines for %d results", n, len(results))
	}
	if !strings.HasPrefix(csv.String(), "kernel,pass,program,seconds,ratio,of_peak\n") {
		t.Errorf("the file begins %.80q", csv.String())
	}
}

// NumPy alone is enough.
func TestWithoutOthers(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"scipy", "torch", "pyfftw"} {
		if err := os.WriteFile(filepath.Join(folder, name+".py"), []byte("raise ImportError"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PYTHONPATH", folder)
	s := start(t)
	for _, c := range Cases(map[string]bool{"float64": true}) {
		switch c.Name() {
		case "revlinalg.Norm2[float64] 100", "revlinalg.Solve[float64] 64", "revsparse.CG[float64] 64", "revmath.Bessel[float64] 100":
			if _, err := s.Measure(t.Context(), c, 1, 0); err != nil {
				t.Error(err)
			}
		}
	}
}
