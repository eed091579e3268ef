package graphembed

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"revnum/benchmarks/internal/machine"
	"revnum/benchmarks/internal/suite"
	"revnum/internal/jsonfile"
	"revnum/internal/long"
)

func TestDerivatives(t *testing.T) {
	most := 4
	if long.Tests() {
		most = 10
	}
	r := report(t, "petersen", "Newton", 1, 1, most)
	for _, x := range r.Rows {
		if x.Params != 10*x.K {
			t.Errorf("k = %d: %d parameters", x.K, x.Params)
		}
		for i, v := range []float64{x.F, x.G, x.H, x.U, x.FDG, x.FDH} {
			if !(v > 0) {
				t.Errorf("k = %d: time %d is %v", x.K, i, v)
			}
		}
		if float64(x.GOverF) != x.G/x.F || float64(x.UOverH) != x.U/x.H || float64(x.UOverG) != x.U/(float64(x.Params)*x.G) {
			t.Errorf("k = %d: ratios %v, %v, %v of %+v", x.K, x.GOverF, x.UOverH, x.UOverG, x.Derivatives)
		}
		// Differences have an error, if a small one: forward ones, with the steps
		// 1e-8 and 1e-4, of about that times the next derivative.
		if !(x.UError < 1e-13) || !(x.FDGError > 1e-13 && x.FDGError < 1e-5) || !(x.FDHError > 1e-10 && x.FDHError < 1e-2) {
			t.Errorf("k = %d: errors %v, %v, %v", x.K, x.UError, x.FDGError, x.FDHError)
		}
	}
}

// TestTooLong has a graph whose Hessian by differences would take minutes.
func TestTooLong(t *testing.T) {
	g, err := Load("cycle:200")
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReport(g, Methods[0], 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	v := measureDerivatives(g.Graph, 4, 1, time.Microsecond)
	if !(v.H > 0) || v.FDH != 0 || !math.IsNaN(float64(v.FDHError)) {
		t.Fatalf("%+v", v)
	}
	r.Rows = []Row{{K: 4, Losses: make([]suite.Error, 1), Derivatives: v}}
	var table, lines, object bytes.Buffer
	if err := r.WriteTable(&table); err != nil || !strings.Contains(table.String(), " -  ") || strings.Contains(table.String(), "NaN") {
		t.Errorf("%v\n%s", err, table.String())
	}
	if err := r.WriteCSV(&lines); err != nil {
		t.Fatal(err)
	}
	cells, err := csv.NewReader(&lines).ReadAll()
	if err != nil || len(cells) != 2 {
		t.Fatalf("%v: %q", err, cells)
	}
	for j, name := range cells[0] {
		if late := strings.HasPrefix(name, "fd_h"); late && cells[1][j] != "" || name == "params" && cells[1][j] != "800" {
			t.Errorf("%s is %q", name, cells[1][j])
		}
	}
	if err := jsonfile.Indented(r)(&object); err != nil {
		t.Fatal(err)
	}
	var got struct{ Rows []map[string]any }
	if err := json.Unmarshal(object.Bytes(), &got); err != nil || got.Rows[0]["fd_h_error"] != nil || got.Rows[0]["params"] != 800. {
		t.Errorf("%v\n%s", err, object.String())
	}
}

func TestLargestError(t *testing.T) {
	b := mat.NewDense(1, 3, []float64{0.5, -100, 2})
	for _, c := range []struct {
		a    []float64
		want float64
	}{
		{[]float64{0.5, -100, 2}, 0}, {[]float64{0.25, -100, 2}, 0.25}, {[]float64{0.5, -150, 2.5}, 0.5},
	} {
		if got := largestError(mat.NewDense(1, 3, c.a), b); float64(got) != c.want {
			t.Errorf("error of %v is %v, want %v", c.a, got, c.want)
		}
	}
	if got := largestError(mat.NewDense(1, 3, []float64{math.NaN(), -100, 2}), b); !math.IsNaN(float64(got)) {
		t.Errorf("error of NaN is %v", got)
	}
}

func TestMeasureLarge(t *testing.T) {
	r := report(t, "path:3", "Newton", 1, 1, 1)
	r.Machine = machine.Measure(4 * time.Millisecond)
	const n, pairs = 300, 300 * 299 / 2
	if err := r.MeasureLarge(n, 4*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if len(r.Large) != 1 {
		t.Fatalf("%d results", len(r.Large))
	}
	x := r.Large[0]
	if x.Params != 5*n || !(x.F > 0 && x.J > 0 && x.PeakJ > 0) || x.PeakJ != x.RateJ/r.Machine.FMA64 {
		t.Errorf("%+v", x)
	}
	if flops := x.RateJ * x.J / pairs; math.Abs(flops-36) > 1e-9 {
		t.Errorf("%v flops a pair, want 36", flops)
	}
	if !(x.Deriv < 1e-6) || !(x.Trip < 1e-14) {
		t.Errorf("gradient error %v, round-trip error %v", x.Deriv, x.Trip)
	}
	if err := r.MeasureLarge(2000, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	// The distances of all pairs would take 8 bytes each.
	if extra := r.Large[1].Extra; extra < 1 || extra > 2*2000*1999/2 {
		t.Errorf("2000 vertices take %d bytes", extra)
	}
	var b bytes.Buffer
	if err := r.WriteTable(&b); err != nil || !strings.Contains(b.String(), "random graph  n=300 k=5 ") {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	if err := r.WriteLargeCSV(&b); err != nil || !strings.Contains(b.String(), "\nrandom graph,n=300 k=5,1,1500,") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
