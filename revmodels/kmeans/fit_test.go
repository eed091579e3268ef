package kmeans

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// clouds returns n points around k corners of a square grid of width 10.
func clouds(rnd *rand.Rand, n, k int) *mat.Dense {
	x := mat.NewDense(n, 2, nil)
	for i := range n {
		c := i % k
		x.SetRow(i, []float64{float64(c%4*10) + rnd.NormFloat64(), float64(c/4*10) + rnd.NormFloat64()})
	}
	return x
}

func mustFit(t *testing.T, x mat.Matrix, k int, opts *Options) (*Clustering, *Report) {
	t.Helper()
	c, r, err := Fit(context.Background(), x, k, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c, r
}

func TestFit(t *testing.T) {
	const n, k = 900, 9
	x := clouds(rand.New(rand.NewPCG(2, 1)), n, k)
	c, r := mustFit(t, x, k, &Options{Starts: 10})
	labels := c.Labels()
	for i := k; i < n; i++ {
		if labels[i] != labels[i%k] {
			t.Errorf("point %d is in cluster %d, its cloud in %d", i, labels[i], labels[i%k])
		}
	}
	for _, size := range c.Sizes() {
		if size != n/k {
			t.Errorf("sizes %v, want %d each", c.Sizes(), n/k)
		}
	}
	if !slices.Equal(c.Predict(x), labels) {
		t.Error("Predict differs from Labels")
	}
	// A view that has no storage of its own, and one with gaps.
	if !slices.Equal(c.Predict(x.T().T()), labels) || !slices.Equal(c.Predict(x.Slice(0, n, 0, 2)), labels) {
		t.Error("Predict of another matrix type differs from Labels")
	}
	if got := c.Predict(mat.NewDense(2, 2, []float64{math.NaN(), 0, math.Inf(1), 0})); got[0] != -1 || got[1] != 0 {
		t.Errorf("NaN and Inf are in clusters %v, want -1 and 0", got)
	}
	centroids := rev.ViewDense(c.Centroids())
	cost, _, gradient, _ := reference(centroids, rev.ViewDense(x))
	if !(math.Abs(cost-c.Cost()) <= 1e-9*cost) {
		t.Errorf("cost %v, want %v", c.Cost(), cost)
	}
	for _, g := range gradient {
		if !(math.Abs(g) <= 1e-9) {
			t.Errorf("gradient %v at the end", gradient)
		}
	}
	if len(r.Starts) != 10 {
		t.Errorf("%d starts, want 10", len(r.Starts))
	}
	for i, s := range r.Starts {
		if !s.Converged || s.Cost < r.Starts[r.Best].Cost {
			t.Errorf("start %d: %+v", i, s)
		}
	}
	if table := r.String(); strings.Count(table, "\n") != 11 || strings.Count(table, "best") != 1 {
		t.Errorf("report\n%s", table)
	}
}

// TestFitLloyd compares with Lloyd's algorithm by plain loops.
func TestFitLloyd(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 2))
	const n, k, d = 400, 12, 3
	x, start := mat.NewDense(n, d, nil), mat.NewDense(k, d, nil)
	for _, m := range []*mat.Dense{x, start} {
		r, _ := m.Dims()
		for i := range r {
			m.SetRow(i, []float64{rnd.Float64(), rnd.Float64(), rnd.Float64()})
		}
	}
	want := rev.ViewDense(mat.DenseCopyOf(start))
	steps := 0
	var before []int
	for {
		_, labels, _, _ := reference(want, rev.ViewDense(x))
		if slices.Equal(labels, before) {
			break
		}
		before = labels
		counts := make([]float64, k)
		sums := rev.NewGeneral[float64](k, d, nil)
		for i, label := range labels {
			counts[label]++
			for j, v := range x.RawRowView(i) {
				sums.Row(label)[j] += v
			}
		}
		for c, count := range counts {
			if count == 0 {
				t.Fatal("the start leaves a cluster empty")
			}
			for j, s := range sums.Row(c) {
				want.Row(c)[j] = s / count
			}
		}
		steps++
	}
	c, r := mustFit(t, x, k, &Options{Init: start, Tolerance: -1})
	if len(r.Starts) != 1 || r.Starts[0].Iterations != steps || !slices.Equal(c.Labels(), before) {
		t.Errorf("%v, want the labels of %d steps", r, steps)
	}
	if !mat.EqualApprox(c.Centroids(), mat.NewDense(k, d, want.Data), 1e-13) {
		t.Errorf("centroids\n%v, want\n%v", mat.Formatted(c.Centroids()), want.Data)
	}
}

func TestFitReproducible(t *testing.T) {
	x := clouds(rand.New(rand.NewPCG(2, 3)), 3000, 7)
	want, _ := mustFit(t, x, 10, &Options{Starts: 2, Source: rand.NewPCG(5, 5), Workers: 1})
	for _, workers := range []int{1, 2, 7} {
		got, _ := mustFit(t, x, 10, &Options{Starts: 2, Source: rand.NewPCG(5, 5), Workers: workers})
		if got.Cost() != want.Cost() || !mat.Equal(got.Centroids(), want.Centroids()) || !slices.Equal(got.Labels(), want.Labels()) {
			t.Errorf("%d workers: another fit, cost %v, want %v", workers, got.Cost(), want.Cost())
		}
	}
}

// TestFitEmpty starts with centroids that get no points.
func TestFitEmpty(t *testing.T) {
	x := clouds(rand.New(rand.NewPCG(2, 4)), 400, 4)
	start := mat.NewDense(4, 2, []float64{5, 0, 1e6, 1e6, 2e6, 0, 0, 3e6})
	c, r := mustFit(t, x, 4, &Options{Init: start})
	if slices.Contains(c.Sizes(), 0) || r.Starts[0].Filled == 0 || !strings.Contains(r.String(), "empty clusters filled") {
		t.Errorf("sizes %v, %v", c.Sizes(), r)
	}

	// Fewer different points than clusters.
	x = mat.NewDense(6, 1, []float64{1, 1, 1, 4, 4, 4})
	c, r = mustFit(t, x, 3, nil)
	if c.Cost() != 0 || !r.Starts[r.Best].Converged || !slices.Contains(c.Sizes(), 0) {
		t.Errorf("cost %v, sizes %v, %v", c.Cost(), c.Sizes(), r)
	}
}

func TestFitSmall(t *testing.T) {
	c, _ := mustFit(t, mat.NewVecDense(3, []float64{1, 5, 9}), 3, nil)
	if c.Cost() != 0 {
		t.Errorf("as many clusters as points cost %v", c.Cost())
	}
	c, _ = mustFit(t, mat.NewVecDense(3, []float64{1, 5, 9}), 1, nil)
	if c.Cost() != 32 || c.Centroids().At(0, 0) != 5 {
		t.Errorf("one cluster costs %v around %v", c.Cost(), c.Centroids().At(0, 0))
	}
}

// TestFitTiny fits points whose squares underflow: the clusters are those of the points times a power of two.
func TestFitTiny(t *testing.T) {
	x := blobs(rand.New(rand.NewPCG(5, 31)), 300, 3, 4)
	for _, c := range []struct{ scale, tol float64 }{
		{0x1p-560, 1}, // the cost underflows
		{0x1p-530, 0x1p-20},
		{0x1p-450, 1e-15},
	} {
		var small mat.Dense
		small.Scale(c.scale, x)
		for _, init := range []*mat.Dense{nil, mat.DenseCopyOf(x.Slice(0, 4, 0, 3))} {
			opts := Options{Init: init}
			want, _, err := Fit(t.Context(), x, 4, &opts)
			if err != nil {
				t.Fatal(err)
			}
			if init != nil {
				opts.Init = new(mat.Dense)
				opts.Init.Scale(c.scale, init)
			}
			got, r, err := Fit(t.Context(), &small, 4, &opts)
			if err != nil {
				t.Fatal(err)
			}
			at := got.Centroids()
			at.Scale(1/c.scale, at)
			if !mat.Equal(at, want.Centroids()) || !slices.Equal(got.Labels(), want.Labels()) {
				t.Errorf("%v: centroids %v, want %v", c.scale, at, want.Centroids())
			}
			if labels := got.Predict(&small); !slices.Equal(labels, want.Labels()) {
				t.Errorf("%v: predicted %v, want %v", c.scale, labels, want.Labels())
			}
			cost := want.Cost() * c.scale * c.scale
			for name, v := range map[string]float64{"Cost": got.Cost(), "Start.Cost": r.Starts[r.Best].Cost, "Score": -got.Score(&small)} {
				tol := c.tol
				if name == "Score" { // each distance is rounded
					tol *= 300
				}
				if !(math.Abs(v-cost) <= tol*cost) {
					t.Errorf("%v: %s is %v, want %v", c.scale, name, v, cost)
				}
			}
			distances := got.Transform(&small)
			distances.Scale(1/c.scale, distances)
			if !mat.EqualApprox(distances, want.Transform(x), 1e-14) {
				t.Errorf("%v: distances are wrong", c.scale)
			}
		}
	}
}

// TestFitTinyInit fits tiny points from centroids that are not: these must not overflow.
func TestFitTinyInit(t *testing.T) {
	for _, large := range []float64{1, 1e100} {
		x := mat.NewDense(4, 1, []float64{0x1p-560, 0x1p-561, 0x1p-560, 0x1p-559})
		c, r, err := Fit(t.Context(), x, 2, &Options{Init: mat.NewDense(2, 1, []float64{large, -large})})
		if err != nil {
			t.Fatal(err)
		}
		// All belong to the first, and underflow leaves no far point for the other.
		at := c.Centroids().RawMatrix().Data
		if !(math.Abs(at[0]) <= 0x1p-50*large) || at[1] != -large || !slices.Equal(c.Labels(), []int{0, 0, 0, 0}) || !(c.Cost() <= 4*at[0]*at[0]) {
			t.Errorf("from %v: centroids %v, labels %v\n%v", large, at, c.Labels(), r)
		}
	}
}

// TestPredictRows checks that what is found for a row does not depend on other rows, some of which
// are tiny, large or not finite.
func TestPredictRows(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, centroids := range [][]float64{{0, 0, 0x1p-560, 0, 0, 0x1p-559}, {0, 0, 0x1p-560, 0, 1, 1}} {
		c := NewClustering(mat.NewDense(3, 2, centroids), 0)
		x := mat.NewDense(9, 2, []float64{0x1p-560, 0x1p-570, 1, 1, 0x1p-570, 0x1p-559, nan, 0, 0, 0, 1e150, -1, inf, 0, 0x1p-561, 0x1p-150, 0x1p-562, 0})
		labels, distances := c.Predict(x), c.Transform(x)
		var score float64
		for i := range 9 {
			row := x.Slice(i, i+1, 0, 2)
			if alone := c.Predict(row); alone[0] != labels[i] {
				t.Errorf("centroids %v: label of %v is %d, and %d alone", centroids, row, labels[i], alone[0])
			}
			if alone := c.Transform(row).RawRowView(0); !floats.Same(alone, distances.RawRowView(i)) {
				t.Errorf("centroids %v: distances of %v are %v, and %v alone", centroids, row, distances.RawRowView(i), alone)
			}
			score += c.Score(row)
		}
		if got := c.Score(x); !math.IsNaN(got) || !math.IsNaN(score) {
			t.Errorf("centroids %v: scores are %v and %v, want NaN", centroids, got, score)
		}
		if centroids[4] == 0 && (labels[0] != 1 || labels[2] != 2 || labels[3] != -1 || labels[4] != 0 || labels[8] != 0) {
			t.Errorf("centroids %v: labels %v", centroids, labels)
		}
		if got, want := distances.At(0, 0), 0x1p-560; !(math.Abs(got-want) <= 1e-5*want) {
			t.Errorf("distance %v, want %v", got, want)
		}
	}
}

func TestFitOptions(t *testing.T) {
	x := clouds(rand.New(rand.NewPCG(2, 5)), 1000, 16)
	start := mat.DenseCopyOf(x.Slice(0, 30, 0, 2))
	_, full := mustFit(t, x, 30, &Options{Init: start, Tolerance: -1})
	_, tol := mustFit(t, x, 30, &Options{Init: start, Tolerance: 0.01})
	_, one := mustFit(t, x, 30, &Options{Init: start, MaxIter: 1})
	f, g, h := full.Starts[0], tol.Starts[0], one.Starts[0]
	if !f.Converged || !g.Converged || g.Iterations >= f.Iterations {
		t.Errorf("Tol 0.01 takes %d steps, 0 takes %d", g.Iterations, f.Iterations)
	}
	if h.Iterations != 1 || h.Converged || !strings.Contains(one.String(), "not converged") {
		t.Errorf("MaxIter 1: %v", one)
	}
}

// TestFitStarts counts the starts by default: few where the optimum is found at once, and more
// for fewer points.
func TestFitStarts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 6))
	apart := mat.NewDense(300, 2, nil)
	for i := range 300 {
		apart.SetRow(i, []float64{rnd.NormFloat64() + 100*float64(i%3), rnd.NormFloat64()})
	}
	if _, r := mustFit(t, apart, 3, nil); len(r.Starts) != 3 {
		t.Errorf("%d starts for clusters that lie apart, want 3", len(r.Starts))
	}
	if _, r := mustFit(t, apart, 3, &Options{Starts: 5}); len(r.Starts) != 5 {
		t.Errorf("%d starts, want 5", len(r.Starts))
	}
	for _, c := range []struct{ n, want int }{{40, 9}, {400, 4}, {4000, 1}, {100000, 1}} {
		x := mat.NewDense(c.n, 2, nil)
		for i := range c.n {
			x.SetRow(i, []float64{rnd.NormFloat64(), rnd.NormFloat64()})
		}
		if _, r := mustFit(t, x, 10, nil); len(r.Starts) != c.want {
			t.Errorf("%d starts for %d points, want %d", len(r.Starts), c.n, c.want)
		}
	}
}

func TestFitErrors(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	with := func(v float64) *mat.Dense {
		y := mat.DenseCopyOf(x)
		y.Set(2, 1, v)
		return y
	}
	for _, c := range []struct {
		x    mat.Matrix
		k    int
		opts *Options
		want string
	}{
		{x, 0, nil, "0 clusters"},
		{x, -1, nil, "-1 clusters"},
		{x, 4, nil, "3 points for 4 clusters"},
		{&mat.Dense{}, 1, nil, "no columns"},
		{with(math.NaN()), 2, nil, "the points have NaN in row 2, column 1"},
		{with(math.Inf(-1)), 2, nil, "the points have -Inf in row 2, column 1"},
		{with(1e200), 2, nil, "the points have 1e+200 in row 2, column 1"},
		{x, 2, &Options{Starts: -1}, "at least 0"},
		{x, 2, &Options{MaxIter: -1}, "at least 0"},
		{x, 2, &Options{Workers: -1}, "at least 0"},
		{x, 2, &Options{Batch: -1}, "at least 0"},
		{x, 2, &Options{Tolerance: 1}, "Tolerance is 1"},
		{x, 2, &Options{Batch: 2, Init: x}, "both Init and Batch"},
		{x, 2, &Options{Weights: []float64{1, 2}}, "2 weights for 3 points"},
		{x, 2, &Options{Weights: []float64{1, 2, -1}}, "weight 2 is -1"},
		{x, 2, &Options{Weights: []float64{1, math.NaN(), 0}}, "weight 1 is NaN"},
		{x, 2, &Options{Weights: make([]float64, 3)}, "all weights are 0"},
		{x, 2, &Options{Tolerance: math.NaN()}, "Tolerance is NaN"},
		{x, 2, &Options{Init: x}, "Init is 3×2, want 2×2"},
		{x, 3, &Options{Init: with(math.NaN())}, "Init has NaN in row 2, column 1"},
	} {
		if _, _, err := Fit(t.Context(), c.x, c.k, c.opts); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "kmeans: ") {
			t.Errorf("k = %d, %+v: %v, want %q", c.k, c.opts, err, c.want)
		}
	}
	if c, _, err := Fit(t.Context(), with(1e150), 2, nil); err != nil || math.IsInf(c.Cost(), 0) {
		t.Errorf("large points: %v", err)
	}
}

// lateContext is a context that is done when it has been asked a number of times.
type lateContext struct {
	context.Context
	left int
}

func (c *lateContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestFitCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c, r, err := Fit(ctx, mat.NewDense(2, 1, []float64{1, 2}), 1, nil)
	if c != nil || r.Best != -1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v, %v", c, r, err)
	}

	// Done within a fit: what there is by then is kept.
	x := clouds(rand.New(rand.NewPCG(2, 7)), 500, 9)
	late := &lateContext{Context: context.Background(), left: 20}
	c, r, err = Fit(late, x, 9, &Options{Starts: 10})
	if c == nil || !errors.Is(err, context.Canceled) || len(r.Starts) == 0 || len(r.Starts) == 10 {
		t.Errorf("%v, %v", r, err)
	}
}

// TestFitWeights compares weights with points that are there so many times.
func TestFitWeights(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 8))
	x := clouds(rnd, 600, 8)
	weights := make([]float64, 600)
	var many []float64
	for i := range weights {
		weights[i] = float64(rnd.IntN(4))
		for range int(weights[i]) {
			many = append(many, x.RawRowView(i)...)
		}
	}
	start := mat.DenseCopyOf(x.Slice(0, 8, 0, 2))
	got, _ := mustFit(t, x, 8, &Options{Init: start, Weights: weights, Tolerance: -1})
	want, _ := mustFit(t, mat.NewDense(len(many)/2, 2, many), 8, &Options{Init: start, Tolerance: -1})
	if !mat.EqualApprox(got.Centroids(), want.Centroids(), 1e-12) || !(math.Abs(got.Cost()-want.Cost()) <= 1e-12*want.Cost()) {
		t.Errorf("cost %v, want %v", got.Cost(), want.Cost())
	}
	// With swaps, too.
	got, _ = mustFit(t, x, 12, &Options{Weights: weights})
	if r := got.Cost() / -got.Score(x); !(r > 1 && r < 3) {
		t.Errorf("cost %v, score %v", got.Cost(), got.Score(x))
	}
}

func TestFitBatch(t *testing.T) {
	x := blobs(rand.New(rand.NewPCG(2, 9)), 30000, 10, 20)
	all, _ := mustFit(t, x, 20, nil)
	c, r := mustFit(t, x, 20, &Options{Batch: 1000, Workers: 1})
	if !r.Starts[0].Converged || !(c.Cost() <= 1.01*all.Cost()) {
		t.Errorf("cost %v in batches, %v of all at once\n%v", c.Cost(), all.Cost(), r)
	}
	if !slices.Equal(c.Predict(x), c.Labels()) {
		t.Error("Predict differs from Labels")
	}
	again, _ := mustFit(t, x, 20, &Options{Batch: 1000, Workers: 3})
	if again.Cost() != c.Cost() {
		t.Errorf("3 workers: cost %v, want %v", again.Cost(), c.Cost())
	}
	// Small batches, of which many are needed.
	if c, _ := mustFit(t, x, 20, &Options{Batch: 100}); !(c.Cost() <= 1.005*all.Cost()) {
		t.Errorf("cost %v in batches of 100, %v of all at once", c.Cost(), all.Cost())
	}
	// Points of no weight do not count, not even for the sample.
	weights := make([]float64, 30000)
	for i := range weights {
		if i%20 < 10 {
			weights[i] = 2
		}
	}
	c, _ = mustFit(t, x, 10, &Options{Batch: 500, Weights: weights})
	if !(c.Cost() <= 1.02*all.Cost()) {
		t.Errorf("cost %v of half the points, %v of all", c.Cost(), all.Cost())
	}
}

func TestTransform(t *testing.T) {
	x := clouds(rand.New(rand.NewPCG(2, 10)), 300, 5)
	c, _ := mustFit(t, x, 5, nil)
	dists, labels := c.Transform(x), c.Labels()
	var cost float64
	for i := range 300 {
		row := dists.RawRowView(i)
		if v := slices.Min(row); row[labels[i]] != v {
			t.Errorf("point %d is at %v from centroid %d", i, row, labels[i])
		}
		cost += row[labels[i]] * row[labels[i]]
	}
	if !(math.Abs(cost-c.Cost()) <= 1e-12*cost) || !(math.Abs(cost+c.Score(x)) <= 1e-12*cost) {
		t.Errorf("distances sum to %v, cost %v, score %v", cost, c.Cost(), c.Score(x))
	}
}

func TestJSON(t *testing.T) {
	x := clouds(rand.New(rand.NewPCG(2, 11)), 300, 5)
	c, _ := mustFit(t, x, 5, nil)
	path := filepath.Join(t.TempDir(), "c.json")
	if err := WriteFile(path, c); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(got.Centroids(), c.Centroids()) || !slices.Equal(got.Labels(), c.Labels()) || got.Cost() != c.Cost() {
		t.Error("another clustering comes back")
	}
	for text, want := range map[string]string{
		`{}`:                                              "no centroids",
		`{"centroids": [[]]}`:                             "no centroids",
		`{"centroids": 1}`:                                "reading a clustering",
		`{"centroids": [[1],[]]}`:                         "centroid 1 has 0 coordinates, centroid 0 has 1",
		`{"centroids": [[1]], "labels": [0, 1]}`:          "label 1 is 1, want one from 0 to 0",
		`{"centroids": [[1]], "labels": [-1]}`:            "label 0 is -1",
		`{"centroids": [[1]], "labels": [0], "cost": -1}`: "the cost is -1",
	} {
		if err := json.Unmarshal([]byte(text), got); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if got.Cost() != c.Cost() {
		t.Error("an error has changed the clustering")
	}
	if _, err := json.Marshal(new(Clustering)); err == nil {
		t.Error("a zero Clustering becomes JSON")
	}
}

func TestPredictShape(t *testing.T) {
	c, _ := mustFit(t, mat.NewDense(2, 1, []float64{1, 2}), 1, nil)
	defer func() {
		if v, _ := recover().(error); !errors.Is(v, mat.ErrShape) {
			t.Errorf("panics with %v", v)
		}
	}()
	c.Predict(mat.NewDense(1, 2, nil))
}

func TestTransformShape(t *testing.T) {
	c, _ := mustFit(t, mat.NewDense(2, 1, []float64{1, 2}), 1, nil)
	defer func() {
		err, _ := recover().(error)
		if !errors.Is(err, mat.ErrShape) || !strings.Contains(err.Error(), "x of kmeans.Clustering is 1×2, want 1×1") {
			t.Errorf("panics with %v", err)
		}
	}()
	c.Transform(mat.NewDense(1, 2, nil))
}

// TestLosesPoints fits points of which a centroid loses its last one in a later step. With weights,
// rounding is then all that its sums have. With a tolerance, that step may be the last, or the one
// that repeats it with exact sums.
func TestLosesPoints(t *testing.T) {
	for _, c := range []struct {
		seed      uint64
		n         int
		tolerance float64
		weighted  bool
	}{
		{12833, 16, -1, true}, {14048, 16, -1, true}, {34933, 16, -1, true},
		{6285, 16, 0.3, false}, {10413, 16, 0.3, false}, {14417, 16, 0.3, false}, {74881, 12, 0.9, true},
	} {
		const k, d = 6, 2
		n := c.n
		rnd := rand.New(rand.NewPCG(c.seed, 9))
		x, init, w := mat.NewDense(n, d, nil), mat.NewDense(k, d, nil), make([]float64, n)
		for i := range n {
			for j := range d {
				x.Set(i, j, rnd.NormFloat64())
			}
			w[i] = rnd.Float64()
		}
		for i := range k {
			for j := range d {
				init.Set(i, j, rnd.NormFloat64()*2)
			}
		}
		opts := &Options{Init: init, Tolerance: c.tolerance}
		if c.weighted {
			opts.Weights = w
		}
		fit, _, err := Fit(t.Context(), x, k, opts)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(fit.Sizes(), 0) {
			t.Errorf("seed %d: clusters of %v points", c.seed, fit.Sizes())
		}
	}
}
