package gmm

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"revnum/rev"
)

// readNumbers returns the numbers of a file of the ADBench data, and skips the
// test where those data are not at hand.
func readNumbers(t *testing.T, name string) []float64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "gmm", name))
	if err != nil {
		t.Skip("the ADBench data are not here: ", err)
	}
	var x []float64
	for _, f := range strings.Fields(string(b)) {
		var v float64
		if _, err := fmt.Sscan(f, &v); err != nil {
			t.Fatal(err)
		}
		x = append(x, v)
	}
	return x
}

// readProblem returns the log posterior of an ADBench file, with ADBench's
// sign of the prior, and cotangents of the same shapes.
func readProblem(t *testing.T, name string) (k, g LogPosterior[float64]) {
	t.Helper()
	x := readNumbers(t, name)
	d, comps, n := int(x[0]), int(x[1]), int(x[2])
	x = x[3:]
	take := func(r, c int) rev.General[float64] {
		m := rev.NewGeneral(r, c, x[:r*c])
		x = x[r*c:]
		return m
	}
	k.Out, g.Out = new(float64), new(float64)
	k.Alpha = rev.ViewSlice(take(1, comps).Data)
	k.Means = take(comps, d)
	k.Factors = take(comps, d*(d+1)/2)
	k.X = take(n, d)
	k.Prior = Prior{Gamma: x[0], M: int(x[1]), Sign: ADBench}
	g.Alpha = rev.ViewSlice(make([]float64, comps))
	g.Means = rev.NewGeneral[float64](comps, d, nil)
	g.Factors = rev.NewGeneral[float64](comps, d*(d+1)/2, nil)
	return k, g
}

// TestADBench checks the objective and its gradient against the files that
// ADBench's hand-written module wrote, within ADBench's own tolerance.
func TestADBench(t *testing.T) {
	for _, name := range []string{"test", "gmm_d2_K5", "gmm_d10_K25"} {
		t.Run(name, func(t *testing.T) {
			k, g := readProblem(t, name+".txt")
			want := readNumbers(t, name+"_F_Manual.txt")[0]
			k.Forward()
			if got := *k.Out; !(math.Abs(got-want) <= 1e-9*math.Abs(want)) {
				t.Errorf("F = %v, want %v", got, want)
			}
			*g.Out = 1
			k.Adjoint(g)
			if *k.Out != 0 {
				t.Errorf("Adjoint left Out = %v, want 0", *k.Out)
			}
			var got []float64
			got = append(got, g.Alpha.Data...)
			got = append(got, g.Means.Data...)
			got = append(got, g.Factors.Data...)
			wants := readNumbers(t, name+"_J_Manual.txt")
			if len(got) != len(wants) {
				t.Fatalf("%d derivatives, want %d", len(got), len(wants))
			}
			for i, w := range wants {
				if d := math.Abs(got[i] - w); !(d <= 1e-8*max(1, math.Abs(got[i])+math.Abs(w))) {
					t.Fatalf("derivative %d = %v, want %v", i, got[i], w)
				}
			}
		})
	}
}
