package adbench_test

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"revnum/benchmarks/internal/adbench"
)

// compareBA compares the files of one module with those of another, word by word. Text
// and integers must be equal. Other numbers are compared by ADBench's measure.
func compareBA(t *testing.T, module, got, want, tool string) {
	t.Helper()
	tol := 1e-8
	if module == "Revnum32" {
		tol = 1e-3
	}
	for _, kind := range []string{"F", "J"} {
		x, err := os.ReadFile(got + "_" + kind + "_" + module + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		y, err := os.ReadFile(want + "_" + kind + "_" + tool + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		a, b := strings.SplitAfter(string(x), "\n"), strings.SplitAfter(string(y), "\n")
		if len(a) != len(b) {
			t.Fatalf("%s: %d lines, want %d", kind, len(a), len(b))
		}
		for i := range a {
			u, v := strings.Split(a[i], " "), strings.Split(b[i], " ")
			if len(u) != len(v) {
				t.Fatalf("%s line %d: %d words, want %d", kind, i+1, len(u), len(v))
			}
			for k := range u {
				if u[k] == v[k] {
					continue
				}
				if !number.MatchString(u[k]) || !number.MatchString(v[k]) || !(difference(parse(t, u[k]), parse(t, v[k])) <= tol) {
					t.Errorf("%s line %d: word %d is %q, want %q", kind, i+1, k+1, u[k], v[k])
				}
			}
		}
	}
}

var number = regexp.MustCompile(`^-?\d\.\d{17}e[+-]\d\d\n?$`)

func parse(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestBAAgainstADBench compares with the output of ADBench's module Manual. Only the
// last digits of numbers may differ.
func TestBAAgainstADBench(t *testing.T) {
	data := filepath.Join("..", "..", "..", "..", "shared", "data", "ba")
	if _, err := os.Stat(data); err != nil {
		t.Skip("ADBench's data is not here")
	}
	runBA(t, filepath.Join(data, "test.txt"), "Manual")
}

// TestBA compares with files that revnum wrote when it agreed with ADBench.
func TestBA(t *testing.T) {
	runBA(t, filepath.Join("testdata", "ba_n2_m3_p7.txt"), "Revnum")
}

func runBA(t *testing.T, path, tool string) {
	t.Helper()
	for _, module := range adbench.Modules {
		out := t.TempDir() + "/"
		if err := (adbench.Run{Test: "BA", Module: module, Input: path, OutPrefix: out}).Do(io.Discard); err != nil {
			t.Fatal(err)
		}
		compareBA(t, module, out+adbench.Basename(path), strings.TrimSuffix(path, ".txt"), tool)
		if x := readNumbers(t, out+adbench.Basename(path)+"_times_"+module+".txt"); len(x) != 2 {
			t.Errorf("times are %v", x)
		}
	}
}
