package bundle_test

import (
	"context"
	"image"
	_ "image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"revnum/internal/long"
	"revnum/program/bundle"
	"revnum/program/figure"
	"revnum/revmodels/ba"
)

func ring(t *testing.T) (start, truth *ba.Problem) {
	t.Helper()
	start, truth, err := ba.Generate(&ba.GenerateOptions{Cameras: 12, Points: 300, Observations: 1500, Noise: 0.5, Start: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	return start, truth
}

func TestErrors(t *testing.T) {
	start, truth := ring(t)
	if e := bundle.ErrorsOf(truth); len(e) != 1500 || !(e.Quantile(1) <= 1e-9) {
		t.Errorf("the truth is %v pixels off", e)
	}
	// The features have noise of 0.5 pixels in each of two coordinates, and it remains.
	noisy := truth.Clone()
	noisy.Features = start.Features
	e := bundle.ErrorsOf(noisy)
	if want := 0.5 * math.Sqrt2; !(math.Abs(e.RMS()-want) <= 0.05*want) {
		t.Errorf("rms %v, want about %v", e.RMS(), want)
	}
	// This is the median of a Rayleigh distribution.
	if want := 0.5 * math.Sqrt(2*math.Ln2); !slices.IsSorted(e) || !(math.Abs(e.Quantile(0.5)-want) <= 0.1*want) {
		t.Errorf("median %v, want about %v", e.Quantile(0.5), want)
	}
	if e := bundle.ErrorsOf(new(ba.Problem)); e.RMS() != 0 || e.Quantile(0.5) != 0 {
		t.Errorf("no observations have errors of %v", e)
	}
}

// TestAxes rotates a ring and checks that the ring's axis points up.
func TestAxes(t *testing.T) {
	_, truth := ring(t)
	axes := bundle.AxesOf(truth)
	if !(axes[2][2] > 0.999) {
		t.Errorf("up is %v, want about the third axis", axes[2])
	}
	for i := range axes {
		for j := range axes {
			want := 0.
			if i == j {
				want = 1
			}
			if !(math.Abs(bundle.Dot(axes[i], axes[j])-want) <= 1e-12) {
				t.Errorf("axes %d and %d: %v, %v", i, j, axes[i], axes[j])
			}
		}
	}
	if c := bundle.Cross(axes[0], axes[1]); !(bundle.Dot(c, axes[2]) > 0.999) {
		t.Errorf("axes %v are left-handed", axes)
	}
	// Points in a straight line lie along the first axis.
	row := &ba.Problem{Points: []float64{0, 0, 0, 1, 2, 0, 2, 4, 0, 3, 6, 0, 4, 8, 0}}
	if a := bundle.AxesOf(row)[0]; !(math.Abs(a[0]+2*a[1]) >= math.Sqrt(5)-1e-12) {
		t.Errorf("the first axis of a row along (1, 2, 0) is %v", a)
	}
}

func TestSample(t *testing.T) {
	for _, n := range []int{0, 1, 500, bundle.MaxPoints, bundle.MaxPoints + 1, 8 * bundle.MaxPoints, 1000*bundle.MaxPoints + 7} {
		var modulo [8]int
		count, last := 0, -1
		for i := range bundle.Sample(n) {
			if i <= last || i >= n {
				t.Fatalf("index %d of %d after %d", i, n, last)
			}
			count, last = count+1, i
			modulo[i%8]++
		}
		if count > bundle.MaxPoints || count < min(n, bundle.MaxPoints/2) {
			t.Errorf("%d of %d points", count, n)
		}
		for r, m := range modulo {
			if n >= bundle.MaxPoints && !(math.Abs(float64(m-count/8)) <= 0.05*float64(count/8)) {
				t.Errorf("%d of %d points are %d modulo 8, want %d", m, n, r, count/8)
			}
		}
	}
}

func TestFigures(t *testing.T) {
	start, _ := ring(t)
	after := start.Clone()
	report, err := ba.Solve(context.Background(), after, &ba.Options{MaxIter: 10})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := bundle.Run{Name: "ring", Before: start, After: after, Report: report}
	if err := run.SaveFigures(dir); err != nil {
		t.Fatal(err)
	}
	for name, labels := range map[string][]string{
		"convergence": {"iteration", "cost", "relative to the start"}, "errors": {"reprojection error in pixels", "observations"},
	} {
		b, err := os.ReadFile(filepath.Join(dir, name+".svg"))
		if err != nil || !strings.Contains(string(b), "<svg") {
			t.Errorf("%s.svg: %v, %.40q", name, err, b)
		}
		for _, l := range labels {
			if !strings.Contains(string(b), ">"+l+"<") {
				t.Errorf("%s.svg has no label %q", name, l)
			}
		}
	}
	for name, want := range map[string][]string{"convergence": {"blue"}, "errors": {"blue", "orange"}, "views": {"points", "orange"}} {
		got := colours(t, filepath.Join(dir, name+".png"))
		for _, c := range want {
			if got[c] < 100 {
				t.Errorf("%s.png has %d pixels of %s", name, got[c], c)
			}
		}
	}
}

// TestScale checks the bar of a view that is ten units wide.
func TestScale(t *testing.T) {
	for v, want := range map[float64]float64{1: 1, 1.9: 1, 2: 2, 4.99: 2, 5: 5, 9.9: 5, 0.03: 0.02, 7e6: 5e6} {
		if got := bundle.RoundBelow(v); !(math.Abs(got-want) <= 1e-12*want) {
			t.Errorf("roundBelow(%v) = %v, want %v", v, got, want)
		}
	}
	var r recorder.Canvas
	size := vg.Point{X: 4 * vg.Centimeter, Y: 3 * vg.Centimeter}
	bundle.DrawScale(draw.NewCanvas(&r, size.X, size.Y), figure.Bare("").X.Tick.Label, float64(size.X)/10)
	var words []string
	for _, a := range r.Actions {
		if w, ok := a.(*recorder.FillString); ok {
			words = append(words, w.String)
		}
	}
	if !slices.Equal(words, []string{"2"}) {
		t.Errorf("the bar is called %q, want 2", words)
	}
}

// colours counts the pixels that are close to each of some colours.
func colours(t *testing.T, path string) map[string]int {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, _, err := image.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[string]int)
	b := picture.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			red, green, blue, _ := picture.At(x, y).RGBA()
			switch r, g, b := red>>8, green>>8, blue>>8; {
			case r < 60 && g > 90 && b > 150:
				count["blue"]++
			case r > 190 && g < 160 && b < 120:
				count["orange"]++
			case r < 170 && g < 190 && b > r+20:
				count["points"]++
			}
		}
	}
	return count
}

// TestFiguresOfLittle draws problems without errors, iterations, cameras or points, and
// one that cannot be drawn to scale.
func TestFiguresOfLittle(t *testing.T) {
	_, truth := ring(t)
	far := truth.Clone()
	far.Points[0], far.Cameras[5] = 1e300, -1e300
	for name, p := range map[string]*ba.Problem{
		"exact": truth, "empty": {}, "far": far,
		"a point":  {Points: []float64{1, 2, 3}},
		"a camera": {Cameras: make([]float64, 9)},
	} {
		for i, iterations := range [][]ba.Iteration{{{Cost: 0}}, {{Cost: 5, Gradient: 1}, {Number: 1, Cost: 5, Gradient: 1}}} {
			if i > 0 && name != "exact" && !long.Tests() {
				continue
			}
			report := &ba.Report{Iterations: iterations, Initial: iterations[0].Cost, Final: iterations[0].Cost, Duration: time.Second}
			run := bundle.Run{Name: name, Before: p, After: p, Report: report}
			if err := run.SaveFigures(t.TempDir()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	run := bundle.Run{Before: truth, After: truth, Report: &ba.Report{Iterations: []ba.Iteration{{}}}}
	if err := run.SaveFigures(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no error from a folder that is not there")
	}
}
