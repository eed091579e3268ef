package problem_test

import (
	"bytes"
	_ "embed"
	"path/filepath"
	"strings"
	"testing"

	"revnum/benchmarks/internal/problem"
	"revnum/revmodels/hand"
)

var (
	//go:embed testdata/hand.txt
	simpleHand string
	//go:embed testdata/hand-complicated.txt
	complicatedHand string
)

func TestReadHandErrors(t *testing.T) {
	m, err := hand.LoadModel(filepath.Join("testdata", "model"))
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
		"vertex":      {edit("2 4 5 6", "3 4 5 6"), `p.txt:3: expected the vertex of point 2 of 2, an integer from 0 to 2, found "3" (a Hand-Complicated problem has triangles there)`},
		"NaN":         {edit("4 5 6", "4 NaN 6"), `p.txt:3: expected a finite number for point 2 of 2, entry 2 of 3, found "NaN"`},
		"truncated":   {simpleHand[:len(simpleHand)-2], "p.txt:29: expected a finite number for parameter 26 of 26, found the end of the file"},
		"trailing":    {simpleHand + "1\n", `p.txt:30: expected the end of the file, found "1"`},
		"more":        {simpleHand + "1 2 3 4 5\n", `p.txt:30: expected the end of the file, found "1"`},
		"complicated": {complicatedHand, "p.txt: expected a Hand problem, found one with u and v of each point, which is Hand-Complicated"},
	} {
		if _, err := problem.ReadHand(strings.NewReader(c.in), "p.txt", int64(len(c.in)), m, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
	if _, err := problem.LoadHand(filepath.Join(t.TempDir(), "none.txt"), false); err == nil || !strings.Contains(err.Error(), "none.txt") {
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
		p, err := problem.ReadHand(bytes.NewReader(in), "p.txt", int64(len(in)), m, complicated)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "p.txt:") {
				t.Errorf("error %v does not name the file", err)
			}
			return
		}
		o := problem.NewHandObjective[float64](p)
		o.ValueJacobian()
		if len(p.Points) != 3*len(p.Correspondences) || complicated != (p.UV != nil) {
			t.Errorf("sizes of %+v do not fit", p)
		}
	})
}
