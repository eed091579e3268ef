package adbench_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"revnum/benchmarks/internal/adbench"
	"revnum/benchmarks/internal/problem"
	"revnum/revmodels/hand"
)

// TestRunHand compares each module's output with differences of the residuals.
func TestRunHand(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []string{"hand", "hand-complicated"} {
		in := filepath.Join("..", "problem", "testdata", test+".txt")
		p, err := problem.LoadHand(in, test != "hand")
		if err != nil {
			t.Fatal(err)
		}
		o := problem.NewHandObjective[float64](p)
		value := func() []float64 { o.Value(); return append([]float64(nil), o.Kernel.R.Data...) }
		f := value()
		cols := o.Jacobian.Cols
		want := make([]float64, 6*cols)
		difference := func(row, column int, x *float64) {
			const h = 1e-4
			v := *x
			at := func(d float64) []float64 { *x = v + d; return value() }
			a, b, c, e := at(h), at(-h), at(2*h), at(-2*h)
			*x = v
			for i := range a {
				if row < 0 || i/3 == row {
					want[i*cols+column] = (8*(a[i]-b[i]) - (c[i] - e[i])) / (12 * h)
				}
			}
		}
		for i := range p.UV {
			difference(i/2, i%2, &p.UV[i])
		}
		for i := range p.Theta {
			difference(-1, cols-hand.Params+i, &p.Theta[i])
		}
		for _, module := range adbench.Modules {
			r := adbench.Run{Test: test, Module: module, Input: in, OutPrefix: dir + "/"}
			if err := r.Do(io.Discard); err != nil {
				t.Fatal(err)
			}
			compareHand(t, filepath.Join(dir, test), module, f, want)
		}
	}
}

func compareHand(t *testing.T, prefix, module string, f, j []float64) {
	t.Helper()
	tol := 1e-9
	if module == "Revnum32" {
		tol = 1e-5
	}
	for kind, want := range map[string][]float64{"F": f, "J": j} {
		got := readNumbers(t, prefix+"_"+kind+"_"+module+".txt")
		if len(got) != len(want) {
			t.Fatalf("%s: %s has %d numbers, want %d", module, kind, len(got), len(want))
		}
		for i, v := range got {
			if !(difference(v, want[i]) <= tol) {
				t.Fatalf("%s: %s[%d] is %v, want %v", module, kind, i, v, want[i])
			}
		}
	}
}

// TestHandAgainstADBench compares with the output of ADBench's module Manual.
func TestHandAgainstADBench(t *testing.T) {
	const name = "hand1_t26_c100"
	for test, folder := range map[string]string{"Hand": "hand", "Hand-Complicated": "hand-complicated"} {
		data := filepath.Join("..", "..", "..", "..", "shared", "data", folder)
		if _, err := os.Stat(data); err != nil {
			t.Skip("ADBench's data is not here")
		}
		out := t.TempDir() + "/"
		r := adbench.Run{Test: test, Module: "Revnum", Input: filepath.Join(data, name+".txt"), OutPrefix: out}
		if err := r.Do(io.Discard); err != nil {
			t.Fatal(err)
		}
		compareHand(t, out+name, "Revnum", readNumbers(t, filepath.Join(data, name+"_F_Manual.txt")), readNumbers(t, filepath.Join(data, name+"_J_Manual.txt")))
	}
}
