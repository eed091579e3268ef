package adbench_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"revnum/benchmarks/internal/adbench"
	"revnum/benchmarks/internal/problem"
)

// TestRunLSTM compares each module's output with differences of the objective.
func TestRunLSTM(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join("..", "problem", "testdata", "lstm.txt")
	p, err := problem.LoadLSTM(in)
	if err != nil {
		t.Fatal(err)
	}
	o := problem.NewLSTMObjective[float64](p)
	f := o.Value()
	var grad []float64
	for _, x := range [][]float64{p.Main, p.Extra} {
		for i, v := range x {
			const h = 1e-4
			at := func(d float64) float64 { x[i] = v + d; defer func() { x[i] = v }(); return o.Value() }
			grad = append(grad, (8*(at(h)-at(-h))-(at(2*h)-at(-2*h)))/(12*h))
		}
	}
	for _, module := range adbench.Modules {
		r := adbench.Run{Test: "LSTM", Module: module, Input: in, OutPrefix: dir + "/"}
		if err := r.Do(io.Discard); err != nil {
			t.Fatal(err)
		}
		compare(t, dir+"/lstm", module, f, grad)
	}
}

// TestLSTMAgainstADBench compares with the output of ADBench's module Manual.
func TestLSTMAgainstADBench(t *testing.T) {
	const name = "lstm_l2_c1024"
	data := filepath.Join("..", "..", "..", "..", "shared", "data", "lstm")
	if _, err := os.Stat(data); err != nil {
		t.Skip("ADBench's data is not here")
	}
	out := t.TempDir() + "/"
	r := adbench.Run{Test: "LSTM", Module: "Revnum", Input: filepath.Join(data, name+".txt"), OutPrefix: out}
	if err := r.Do(io.Discard); err != nil {
		t.Fatal(err)
	}
	f, grad := readNumbers(t, filepath.Join(data, name+"_F_Manual.txt")), readNumbers(t, filepath.Join(data, name+"_J_Manual.txt"))
	compare(t, out+name, "Revnum", f[0], grad)
}
