package gradbench

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Elements from 0 to 1, as GradBench draws them.
func TestDet(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 1))
	for _, n := range []int{1, 2, 3, 5, 9} {
		in := struct {
			A       []float64
			Ell     int `json:"ell"`
			MinRuns int `json:"min_runs"`
		}{Ell: n, MinRuns: 2}
		for range n * n {
			in.A = append(in.A, rnd.Float64())
		}
		a := mat.NewDense(n, n, in.A)
		var inverse mat.Dense
		if err := inverse.Inverse(a); err != nil {
			t.Fatal(err)
		}
		want := mat.Det(a)
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		answers := talk(t, `{"id":1,"kind":"evaluate","module":"det","function":"primal","input":`+string(b)+`}`,
			`{"id":2,"kind":"evaluate","module":"det","function":"gradient","input":`+string(b)+`}`)
		if got := numberOf(t, answers[0]); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("ell=%d: %v, want %v", n, got, want)
		}
		var gradient []float64
		if err := json.Unmarshal(answers[1].Output, &gradient); err != nil {
			t.Fatal(err, answers[1].Error)
		}
		if len(gradient) != n*n || len(answers[1].Timings) != 2 {
			t.Fatalf("ell=%d: %d derivatives and %d timings", n, len(gradient), len(answers[1].Timings))
		}
		for i := range n {
			for j := range n {
				if got, want := gradient[i*n+j], want*inverse.At(j, i); !(math.Abs(got-want) <= 1e-11) {
					t.Errorf("ell=%d: derivative %v by element (%d, %d), want %v", n, got, i, j, want)
				}
			}
		}
	}
}

func TestDetTrouble(t *testing.T) {
	for input, want := range map[string]string{
		`{"ell":1}`:                       `the field "A" is missing`,
		`{"A":[1]}`:                       `the field "ell" is missing`,
		`{"A":[],"ell":0}`:                "ell: expected 1 to 14 rows",
		`{"A":[],"ell":-1}`:               "ell: expected 1 to 14 rows",
		`{"A":[1],"ell":15}`:              "ell: expected 1 to 14 rows",
		`{"A":[1,2,3],"ell":2}`:           "matrix A: expected 4 numbers, found 3",
		`{"A":[[1]],"ell":1}`:             "expected a number as entry 0",
		`{"A":"1","ell":1}`:               "expected an array of numbers",
		`{"A":[1],"ell":1.5}`:             "cannot unmarshal number 1.5",
		`{"A":[1e200,0,0,1e200],"ell":2}`: "the result is +Inf",
	} {
		a := talk(t, `{"id":1,"kind":"evaluate","module":"det","function":"primal","input":`+input+`}`)
		if a[0].Success == nil || *a[0].Success || !strings.Contains(a[0].Error, want) || strings.Contains(a[0].Error, "bug") {
			t.Errorf("%s: %q, want %q", input, a[0].Error, want)
		}
	}
}
