package adbench

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"revnum/revmodels/hand"
)

// handParams are the numbers of a pose, one per line.
const handParams = "0.3\n-0.2\n0.5\n0.1\n0.2\n0.3\n" +
	"0.1\n0.2\n0.3\n0.4\n-0.1\n-0.2\n-0.3\n-0.4\n0.5\n0.6\n0.7\n0.8\n0.1\n0\n0.1\n0\n1\n2\n3\n4\n"

const (
	simpleHand      = "2 26\n0 1 2 3\n2 4 5 6\n" + handParams
	complicatedHand = "2 26\n0 1 2 3\n0 4 5 6\n0.25 0.5\n1 -0.5\n" + handParams
)

// writeModel writes a hand with one triangle to the folder model in dir.
func writeModel(t *testing.T, dir string) {
	t.Helper()
	const transform = ":1:0:0:0.5:0:0:-1:0.25:0:1:0:-0.5:0:0:0:1"
	bones := "wrist:-1" + transform + transform + "\n"
	for range hand.Bones - 1 {
		bones += "bone:0" + transform + transform + "\n"
	}
	model := filepath.Join(dir, "model")
	if err := os.Mkdir(model, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"bones.txt": bones, "triangles.txt": "0:1:2\n",
		"vertices.txt": "1:2:3:0:0:0:0:0:1:2:1.0\n4:5:6:0:0:0:0:0:2:1:0.25:8:0.75\n-1:0:1:0:0:0:0:0:1:19:1\n",
	} {
		if err := os.WriteFile(filepath.Join(model, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRunHand compares each module's output with differences of the residuals.
func TestRunHand(t *testing.T) {
	dir := t.TempDir()
	writeModel(t, dir)
	for test, text := range map[string]string{"Hand": simpleHand, "Hand-Complicated": complicatedHand} {
		in := filepath.Join(dir, test+".txt")
		if err := os.WriteFile(in, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		p, err := LoadHand(in, test != "Hand")
		if err != nil {
			t.Fatal(err)
		}
		o := NewHandObjective[float64](p)
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
		for _, module := range Modules {
			r := Run{Test: strings.ToLower(test), Module: module, Input: in, OutPrefix: dir + "/"}
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
		r := Run{Test: test, Module: "Revnum", Input: filepath.Join(data, name+".txt"), OutPrefix: out}
		if err := r.Do(io.Discard); err != nil {
			t.Fatal(err)
		}
		compareHand(t, out+name, "Revnum", readNumbers(t, filepath.Join(data, name+"_F_Manual.txt")), readNumbers(t, filepath.Join(data, name+"_J_Manual.txt")))
	}
}

func TestReadHandErrors(t *testing.T) {
	dir := t.TempDir()
	writeModel(t, dir)
	m, err := hand.LoadModel(filepath.Join(dir, "model"))
	if err != nil {
		t.Fatal(err)
	}
	edit := func(from, to string) string { return strings.Replace(simpleHand, from, to, 1) }
	for name, c := range map[string]struct{ in, want string }{
		"empty":       {"", "p.txt:1: expected the number of points, a positive integer, found the end of the file"},
		"no points":   {edit("2 26", "0 26"), `p.txt:1: expected the number of points, a positive integer, found "0"`},
		"overflow":    {edit("2 26", "9223372036854775807 26"), "p.txt:1: expected the number of points"},
		"too many":    {edit("2 26", "2000 26"), "p.txt:1: 2000 points: expected 8026 numbers, more than the file's"},
		"parameters":  {edit("2 26", "2 27"), `p.txt:1: expected the number of parameters, which is 26, found "27"`},
		"vertex":      {edit("2 4 5 6", "3 4 5 6"), `p.txt:3: expected the vertex of point 2 of 2, an integer from 0 to 2, found "3"`},
		"NaN":         {edit("4 5 6", "4 NaN 6"), `p.txt:3: expected a finite number for point 2 of 2, entry 2 of 3, found "NaN"`},
		"truncated":   {simpleHand[:len(simpleHand)-2], "p.txt:29: expected a finite number for parameter 26 of 26, found the end of the file"},
		"trailing":    {simpleHand + "1\n", `p.txt:30: expected the end of the file, found "1"`},
		"complicated": {complicatedHand, "p.txt:28: expected the end of the file"},
	} {
		if _, err := ReadHand(strings.NewReader(c.in), "p.txt", int64(len(c.in)), m, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
	if _, err := LoadHand(filepath.Join(dir, "none.txt"), false); err == nil || !strings.Contains(err.Error(), "none.txt") {
		t.Errorf("no file: error %v", err)
	}
}

func FuzzReadHand(f *testing.F) {
	bones := make([]hand.Bone, hand.Bones)
	for i := range bones {
		bones[i] = hand.Bone{Parent: i - 1, Relative: hand.Affine{{1}, {1: 1}, {2: 1}}}
	}
	m, err := hand.NewModel(bones, make([]hand.Vertex, 3), [][3]int{{0, 1, 2}}, false)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(simpleHand), false)
	f.Add([]byte(complicatedHand), true)
	f.Fuzz(func(t *testing.T, in []byte, complicated bool) {
		p, err := ReadHand(bytes.NewReader(in), "p.txt", int64(len(in)), m, complicated)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "p.txt:") {
				t.Errorf("error %v does not name the file", err)
			}
			return
		}
		o := NewHandObjective[float64](p)
		o.ValueJacobian()
		if len(p.Points) != 3*len(p.Correspondences) || complicated != (p.UV != nil) {
			t.Errorf("sizes of %+v do not fit", p)
		}
	})
}
