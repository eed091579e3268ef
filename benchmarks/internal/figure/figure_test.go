package figure

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot/vg"

	"revnum/benchmarks/internal/dataset"
	"revnum/revmodels/gmm"
)

// TestEllipse checks that the points of an ellipse are s standard deviations
// from the mean, all the way round.
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
	// All points are in one component, and more than are drawn.
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
