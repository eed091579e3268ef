package gradbench

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestKMeans(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 1))
	const n, k, d = 200, 20, 3
	in := struct {
		Points    [][]float64 `json:"points"`
		Centroids [][]float64 `json:"centroids"`
		MinRuns   int         `json:"min_runs"`
	}{MinRuns: 2}
	for range n {
		in.Points = append(in.Points, []float64{rnd.Float64(), rnd.Float64(), rnd.Float64()})
	}
	// GradBench draws them like this, so that each centroid has points.
	in.Centroids = in.Points[n-k:]

	cost := 0.0
	want, counts := make([][]float64, k), make([]float64, k)
	for _, p := range in.Points {
		least, at := math.Inf(1), 0
		for c, centroid := range in.Centroids {
			s := 0.0
			for j, v := range centroid {
				s += (p[j] - v) * (p[j] - v)
			}
			if s < least {
				least, at = s, c
			}
		}
		cost += least
		counts[at]++
		if want[at] == nil {
			want[at] = make([]float64, d)
		}
		for j, v := range p {
			want[at][j] += in.Centroids[at][j] - v
		}
	}

	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	a := talk(t, `{"id":1,"kind":"evaluate","module":"kmeans","function":"cost","input":`+string(b)+`}`,
		`{"id":2,"kind":"evaluate","module":"kmeans","function":"dir","input":`+string(b)+`}`)
	if got := numberOf(t, a[0]); !(math.Abs(got-cost) <= 1e-13*cost) {
		t.Errorf("cost %v, want %v", got, cost)
	}
	var got [][]float64
	if err := json.Unmarshal(a[1].Output, &got); err != nil {
		t.Fatal(err, a[1].Error)
	}
	if len(got) != k {
		t.Fatalf("%d directions, want %d", len(got), k)
	}
	for c, row := range got {
		if len(row) != d {
			t.Fatalf("direction %d is %v", c, row)
		}
		for j, v := range row {
			if !(math.Abs(v-want[c][j]/counts[c]) <= 1e-14) {
				t.Errorf("direction %d is %v, want %v over %v", c, row, want[c], counts[c])
			}
		}
	}
	if len(a[0].Timings) != 2 || len(a[1].Timings) != 2 {
		t.Errorf("%d and %d timings, want 2", len(a[0].Timings), len(a[1].Timings))
	}
}

func TestKMeansEmptyCluster(t *testing.T) {
	a := talk(t, `{"id":1,"kind":"evaluate","module":"kmeans","function":"dir","input":{"points":[[1],[3]],"centroids":[[9],[1]]}}`)
	if got, want := string(a[0].Output), "[[0.0],[-1.0]]"; got != want {
		t.Errorf("direction %s (%s), want %s", got, a[0].Error, want)
	}
}

func TestKMeansTrouble(t *testing.T) {
	for input, want := range map[string]string{
		`{"centroids":[[1]]}`:                      `the field "points" is missing`,
		`{"points":[[1]]}`:                         `the field "centroids" is missing`,
		`{"points":null,"centroids":[[1]]}`:        `the field "points" is missing`,
		`{"points":[],"centroids":[[1]]}`:          "points: expected at least one row",
		`{"points":[[1]],"centroids":[]}`:          "centroids: expected at least one row",
		`{"points":[[]],"centroids":[[]]}`:         "points[0]: expected at least one number",
		`{"points":[[1,2],[3]],"centroids":[[1]]}`: "points[1]: expected 2 numbers, found 1",
		`{"points":[[1,2]],"centroids":[[1]]}`:     "centroids[0]: expected 2 numbers, found 1",
		`{"points":[[1],null],"centroids":[[1]]}`:  "expected an array of numbers, found null",
		`{"points":[["1"]],"centroids":[[1]]}`:     "expected a number as entry 0",
		`{"points":[1],"centroids":[[1]]}`:         "expected an array of numbers, found 1",
		`{"points":[[1e200]],"centroids":[[1]]}`:   "the result is +Inf",
		`[]`:                                       "cannot unmarshal array",
	} {
		a := talk(t, `{"id":1,"kind":"evaluate","module":"kmeans","function":"cost","input":`+input+`}`)
		if a[0].Success == nil || *a[0].Success || !strings.Contains(a[0].Error, want) || strings.Contains(a[0].Error, "bug") {
			t.Errorf("%s: %q, want %q", input, a[0].Error, want)
		}
	}
}
