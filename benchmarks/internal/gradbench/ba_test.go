package gradbench

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"revnum/benchmarks/internal/problem"
)

const baInput = `{"n":2,"m":10,"p":10,"cam":[1.797201,0.590697,-0.635786,90.85955,29.361415,28.777534,211.628116,-0.284531,-14.762924,0.058931,0.069976],` +
	`"x":[4.173048,5.586898,1.403869],"w":0.417022,"feat":[-525.672849,161.811929],"min_runs":2}`

// TestBA evaluates ADBench's test problem. The errors must equal those of ADBench's
// module Manual. The Jacobian must equal the one of package adbench, whose tests
// compare it with Manual's.
func TestBA(t *testing.T) {
	a := talk(t, `{"id":1,"kind":"evaluate","module":"ba","function":"objective","input":`+baInput+`}`,
		`{"id":2,"kind":"evaluate","module":"ba","function":"jacobian","input":`+baInput+`}`)
	var f struct {
		Reprojection struct {
			Elements []float64 `json:"elements"`
			Repeated int       `json:"repeated"`
		} `json:"reproj_error"`
		Weight struct {
			Element  float64 `json:"element"`
			Repeated int     `json:"repeated"`
		} `json:"w_err"`
	}
	decode(t, a[0], &f)
	got := append(slices.Clone(f.Reprojection.Elements), f.Weight.Element)
	want := []float64{-0.269048849235189402, 0.259944792677901881, 0.826092651515999976}
	for i, v := range want {
		if len(got) != len(want) || !(math.Abs(got[i]-v) <= 1e-11) {
			t.Fatalf("errors %v, want %v", got, want)
		}
	}
	if f.Reprojection.Repeated != 10 || f.Weight.Repeated != 10 {
		t.Errorf("repeated %d and %d times, want 10", f.Reprojection.Repeated, f.Weight.Repeated)
	}

	var j struct {
		Rows   []int     `json:"rows"`
		Cols   []int     `json:"cols"`
		Values []float64 `json:"vals"`
	}
	decode(t, a[1], &j)
	p := &problem.BA{
		N: 2, M: 10, P: 10, Point: [3]float64{4.173048, 5.586898, 1.403869}, Weight: 0.417022, Feature: [2]float64{-525.672849, 161.811929},
		Camera: [11]float64{1.797201, 0.590697, -0.635786, 90.85955, 29.361415, 28.777534, 211.628116, -0.284531, -14.762924, 0.058931, 0.069976},
	}
	o := problem.NewBAObjective[float64](p, 1)
	o.ValueJacobian()
	if v := append(slices.Clone(o.Jacobian.Data[:30]), -2*p.Weight); !slices.Equal(j.Values, v) {
		t.Errorf("values %v, want %v", j.Values, v)
	}
	// Observation 0 has camera 0 and point 0. The last column belongs to the last
	// weight.
	columns := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 22, 23, 24, 52}
	if v := append(append(slices.Clone(columns), columns...), 61); !slices.Equal(j.Cols, v) {
		t.Errorf("columns %v, want %v", j.Cols, v)
	}
	if len(j.Rows) != 31 || j.Rows[0] != 0 || j.Rows[20] != 300 || j.Rows[29] != 309 || j.Rows[30] != 310 {
		t.Errorf("row pointers %v", j.Rows)
	}
	if len(a[0].Timings) != 2 {
		t.Errorf("objective: %d timings, want 2", len(a[0].Timings))
	}
	// The values are part of the evaluation.
	x := a[1].Timings
	if len(x) != 4 {
		t.Fatalf("Jacobian: %d timings, want 4", len(x))
	}
	for i := range 2 {
		if x[i].Name != "evaluate" || x[2+i].Name != "values" || x[2+i].Nanoseconds > x[i].Nanoseconds {
			t.Errorf("timings %+v", x)
		}
	}
}

func decode(t *testing.T, a answered, to any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(a.Output)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(to); err != nil {
		t.Fatal(err, a.Error)
	}
}

func TestBATrouble(t *testing.T) {
	for _, c := range []struct{ old, to, want string }{
		{`"n":2,`, ``, `the field "n" is missing`},
		{`"m":10`, `"m":0`, "m: expected a positive integer, found 0"},
		{`"x":[4.173048,`, `"x":[`, "x: expected 3 numbers, found 2"},
		{`"w":0.417022,`, ``, `the field "w" is missing`},
		{`"feat":`, `"feet":`, `the field "feat" is missing`},
		{`"p":10`, `"p":1000000000000000`, "the sizes overflow"},
		{`"n":2,`, `"n":200000000,`, "the sizes overflow"},
		{`"cam":[1.797201,`, `"cam":["x",`, "expected a number as entry 0"},
		{`"x":[4.173048,5.586898,1.403869]`, `"x":[90.85955,29.361415,28.777534]`, "which JSON cannot hold"},
	} {
		if !strings.Contains(baInput, c.old) {
			t.Fatalf("%q is not in the input", c.old)
		}
		a := talk(t, `{"id":1,"kind":"evaluate","module":"ba","function":"objective","input":`+strings.Replace(baInput, c.old, c.to, 1)+`}`)[0]
		if a.Success == nil || *a.Success || !strings.Contains(a.Error, c.want) {
			t.Errorf("%s for %s: %+v, want %q", c.to, c.old, a, c.want)
		}
	}
}
