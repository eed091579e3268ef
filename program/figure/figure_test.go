package figure

import (
	"bytes"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot/vg"

	"revnum/program/dataset"
	"revnum/revmodels/gmm"
)

// TestEllipse checks that all points of an ellipse are s standard deviations from the
// mean.
func TestEllipse(t *testing.T) {
	for _, c := range [][3]float64{{1, 0, 1}, {4, -1.5, 0.8}, {1e-6, 1e-3, 5}, {2, 2, 2}} {
		for _, s := range []float64{1, 2} {
			xy := ellipse(3, -1, c[0], c[1], c[2], s)
			if xy[0] != xy[len(xy)-1] && !(math.Abs(xy[0].Y-xy[len(xy)-1].Y) <= 1e-12) {
				t.Errorf("covariance %v: not closed: %v, %v", c, xy[0], xy[len(xy)-1])
			}
			high := math.Inf(-1)
			for _, p := range xy {
				u, v := p.X-3, p.Y+1
				high = math.Max(high, u)
				det := c[0]*c[2] - c[1]*c[1]
				if det < 1e-9 {
					continue // a line
				}
				if d := (c[2]*u*u - 2*c[1]*u*v + c[0]*v*v) / det; !(math.Abs(d-s*s) <= 1e-6*s*s) {
					t.Errorf("covariance %v: squared distance %v, want %v", c, d, s*s)
				}
			}
			if want := s * math.Sqrt(c[0]); !(math.Abs(high-want) <= 1e-12) {
				t.Errorf("covariance %v: reaches %v in x, want %v", c, high, want)
			}
		}
	}
}

func TestMixtureFormats(t *testing.T) {
	m, err := gmm.NewMixture([]float64{0.5, 0.5}, mat.NewDense(2, 2, []float64{0, 0, 100, 100}),
		[]*mat.SymDense{mat.NewSymDense(2, []float64{1, 0, 0, 1}), mat.NewSymDense(2, []float64{1, 0, 0, 1})})
	if err != nil {
		t.Fatal(err)
	}
	// All points belong to one component, and there are more than a plot shows.
	x := mat.NewDense(maxPoints+1, 2, nil)
	p := Mixture(&dataset.Table{X: x}, m, 1, 1)
	for ext, start := range map[string]string{".png": "\x89PNG", ".SVG": "<?xml", ".pdf": "%PDF"} {
		path := filepath.Join(t.TempDir(), "x"+ext)
		if err := Save(p, 8*vg.Centimeter, 6*vg.Centimeter, path); err != nil {
			t.Errorf("%s: %v", ext, err)
			continue
		}
		if b, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(b, []byte(start)) {
			t.Errorf("%s: holds %.20q, %v, want %q first", ext, b, err, start)
		}
	}
	if err := Save(p, vg.Centimeter, vg.Centimeter, filepath.Join(t.TempDir(), "x.gif")); err == nil {
		t.Error("no error for a .gif")
	}
}

// TestColors checks that all colours are well apart in RGB space. Lines among points of one colour are
// seen by their own, or by their white edge where both are dark.
func TestColors(t *testing.T) {
	distance := func(a, b color.NRGBA) float64 {
		square := func(a, b uint8) float64 { return (float64(a) - float64(b)) * (float64(a) - float64(b)) }
		return math.Sqrt(square(a.R, b.R) + square(a.G, b.G) + square(a.B, b.B))
	}
	for _, n := range []int{1, 7, 8, 20, 30} {
		colors := Colors(n)
		if len(colors) != n {
			t.Fatalf("%d colours, want %d", len(colors), n)
		}
		for i, a := range colors {
			if white := (color.NRGBA{255, 255, 255, 255}); distance(a, darker(a)) < 80 && distance(a, white) < 200 {
				t.Errorf("a line in %v is not seen among points in %v", darker(a), a)
			}
			for j, b := range colors[:i] {
				if distance(a, b) < 15 {
					t.Errorf("colours %d and %d of %d are %v and %v", j, i, n, b, a)
				}
			}
		}
	}
}

// TestMixtureAxes checks that a component without points does not widen the axes.
func TestMixtureAxes(t *testing.T) {
	eye := mat.NewSymDense(2, []float64{1, 0, 0, 1})
	m, err := gmm.NewMixture([]float64{1 - 1e-15, 1e-15}, mat.NewDense(2, 2, []float64{0, 0, 1e6, 1e6}), []*mat.SymDense{eye, eye})
	if err != nil {
		t.Fatal(err)
	}
	table := &dataset.Table{X: mat.NewDense(2, 2, []float64{1, 1, -1, -1})}
	for _, cols := range [][]int{{0, 1}, {1}} {
		if p := Mixture(table, m, cols...); p.X.Max > 10 || p.X.Min < -10 || p.Y.Max > 10 {
			t.Errorf("columns %v: axes from %v to %v and to %v", cols, p.X.Min, p.X.Max, p.Y.Max)
		}
	}
	// All points are the same.
	table.X = mat.NewDense(2, 2, []float64{1, 1, 1, 1})
	if err := Save(Mixture(table, m, 0), 8*vg.Centimeter, 6*vg.Centimeter, filepath.Join(t.TempDir(), "x.png")); err != nil {
		t.Error(err)
	}
}
