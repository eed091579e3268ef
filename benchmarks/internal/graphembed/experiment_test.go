package graphembed

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"revnum/benchmarks/internal/suite"
	"revnum/internal/jsonfile"
	"revnum/internal/long"
)

// report runs the experiment on a graph.
func report(t *testing.T, name, method string, starts, low, high int) *Report {
	t.Helper()
	g, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReport(g, method, starts, 7)
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	for k := low; k <= high; k++ {
		if err := r.Run(t.Context(), k, time.Millisecond, func(n int) { done += n }); err != nil {
			t.Fatal(err)
		}
	}
	if want := starts * (high - low + 1); done != want {
		t.Errorf("%s: %d starts reported as done, want %d", name, done, want)
	}
	return r
}

// TestPetersenDimensions is the finding of the paper.
func TestPetersenDimensions(t *testing.T) {
	starts := 10
	if long.Tests() {
		starts = 30
	}
	r := report(t, "petersen", "Newton", starts, 4, 5)
	four, five := r.Rows[0], r.Rows[1]
	if four.Reached != 0 || !(four.Losses[0] > 1e-3) {
		t.Errorf("k = 4: %d starts reach 0, the least loss is %v", four.Reached, four.Losses[0])
	}
	if 10*five.Reached < 6*starts || !(five.Losses[0] < 1e-20) || !(math.Abs(float64(five.Ratio)-math.Sqrt2) < 1e-9) || !(five.Spread < 1e-9) {
		t.Errorf("k = 5: %d starts reach 0, loss %v, l2/l1 %v, spread %v", five.Reached, five.Losses[0], five.Ratio, five.Spread)
	}
	for _, x := range r.Rows {
		if len(x.Losses) != starts || !slices.IsSorted(x.Losses) || !(x.F > 0 && x.G > 0 && x.H > 0) || x.Steps < 1 || (x.Most > 0) != (x.Reached > 0) {
			t.Errorf("k = %d: %+v", x.K, x)
		}
	}
	again := report(t, "petersen", "Newton", starts, 5, 5)
	if !slices.Equal(again.Rows[0].Losses, five.Losses) {
		t.Errorf("losses %v the second time, %v before", again.Rows[0].Losses, five.Losses)
	}
}

func TestMethods(t *testing.T) {
	for _, method := range Methods {
		r := report(t, "cycle:4", method, 2, 2, 2)
		// A square, whichever method finds it.
		if x := r.Rows[0]; r.Method != method || !(math.Abs(float64(x.Ratio)-math.Sqrt2) < 1e-6) {
			t.Errorf("%s: l2/l1 = %v, want √2", method, x.Ratio)
		}
	}
	g, err := Load("petersen")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewReport(g, "newton", 1, 1); err == nil || !strings.Contains(err.Error(), `"newton"`) {
		t.Errorf("unknown method: %v", err)
	}
}

// TestDegenerate writes the reports of graphs that lack one kind of pairs or
// another, or free vertices.
func TestDegenerate(t *testing.T) {
	edges := filepath.Join(t.TempDir(), "edges.txt")
	if err := os.WriteFile(edges, []byte("a\nb\nc\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, missing := range map[string][]string{
		"complete:1": {"l1", "l2", "ratio"}, "path:2": {"l2", "ratio"}, "complete:4": {"l2", "ratio"}, edges: {"l1", "ratio"}, "path:3": nil,
	} {
		r := report(t, name, "Newton", 3, 1, 3)
		var b bytes.Buffer
		if err := jsonfile.Indented(r)(&b); err != nil {
			t.Fatal(err)
		}
		var got struct{ Rows []map[string]any }
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, key := range []string{"l1", "l2", "ratio"} {
			if absent := got.Rows[0][key] == nil; absent != slices.Contains(missing, key) {
				t.Errorf("%s: %s is %v", name, key, got.Rows[0][key])
			}
		}
		b.Reset()
		if err := r.WriteTable(&b); err != nil || strings.Count(b.String(), "\n") != 10 || strings.Contains(b.String(), "NaN") {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
		b.Reset()
		if err := r.WriteCSV(&b); err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(&b).ReadAll()
		want := 1
		for _, x := range r.Rows {
			want += len(x.Losses)
		}
		if err != nil || len(lines) != want {
			t.Errorf("%s: CSV of %d lines, want %d: %v", name, len(lines), want, err)
		}
		if long.Tests() || name == "complete:1" {
			checkFigures(t, r)
		}
	}
}

// checkFigures saves the figures and reads them back.
func checkFigures(t *testing.T, r *Report) {
	t.Helper()
	dir := t.TempDir()
	if err := r.SaveFigures(dir); err != nil {
		t.Errorf("%s: %v", r.Graph, err)
		return
	}
	for _, name := range []string{"loss", "times", "embedding_k2", "embedding_k3"} {
		b, err := os.ReadFile(filepath.Join(dir, name+".png"))
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := png.Decode(bytes.NewReader(b)); err != nil {
			t.Errorf("%s: %s: %v", r.Graph, name, err)
		}
		b, err = os.ReadFile(filepath.Join(dir, name+".svg"))
		if err != nil || !bytes.Contains(b, []byte("</svg>")) || bytes.Contains(b, []byte("NaN")) {
			t.Errorf("%s: %s.svg: %v", r.Graph, name, err)
		}
	}
}

// TestProject checks that distances stay as they are where nothing is left out.
func TestProject(t *testing.T) {
	x := mat.NewDense(4, 3, []float64{1, 2, 3, -1, 0, 2, 5, 1, 1, 0, 0, 7})
	xy, depth := project(x)
	for i := range 4 {
		for j := range i {
			want, got := 0., math.Hypot(math.Hypot(xy[i].X-xy[j].X, xy[i].Y-xy[j].Y), depth[i]-depth[j])
			for c := range 3 {
				want = math.Hypot(want, x.At(i, c)-x.At(j, c))
			}
			if math.Abs(got-want) > 1e-12 {
				t.Errorf("points %d and %d are %v apart, want %v", j, i, got, want)
			}
		}
	}
	variance := func(v func(i int) float64) (s float64) {
		for i := range 4 {
			s += v(i) * v(i) // around the centre
		}
		return s
	}
	a, b, c := variance(func(i int) float64 { return xy[i].X }), variance(func(i int) float64 { return xy[i].Y }),
		variance(func(i int) float64 { return depth[i] })
	if a < b || b < c {
		t.Errorf("variances %v, %v, %v, want them descending", a, b, c)
	}
}

func TestMedian(t *testing.T) {
	for want, losses := range map[float64][]suite.Error{1: {1}, 2: {1, 2, 9}, 3: {1, 3, 4, 9}} {
		x := Row{Losses: losses}
		if got := x.median(); got != want {
			t.Errorf("median of %v is %v, want %v", losses, got, want)
		}
	}
}
