package kmeans

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

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
	c, r, err := Fit(x, k, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c, r
}

func TestFit(t *testing.T) {
	const n, k = 900, 9
	x := clouds(rand.New(rand.NewPCG(2, 1)), n, k)
	c, r := mustFit(t, x, k, nil)
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
	if len(r.Restarts) != 10 {
		t.Errorf("%d restarts, want 10", len(r.Restarts))
	}
	for i, s := range r.Restarts {
		if !s.Converged || s.Cost < r.Restarts[r.Best].Cost || len(s.History) != s.Iterations+1 || s.History[s.Iterations] != s.Cost {
			t.Errorf("restart %d: %+v", i, s)
		}
		for j := 1; j < len(s.History); j++ {
			if s.History[j] > s.History[j-1]*(1+1e-14) {
				t.Errorf("restart %d: step %d raises the cost from %v to %v", i, j, s.History[j-1], s.History[j])
			}
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
	c, r := mustFit(t, x, k, &Options{Init: start})
	if len(r.Restarts) != 1 || r.Restarts[0].Iterations != steps || !slices.Equal(c.Labels(), before) {
		t.Errorf("%v, want the labels of %d steps", r, steps)
	}
	if !mat.EqualApprox(c.Centroids(), mat.NewDense(k, d, want.Data), 1e-13) {
		t.Errorf("centroids\n%v, want\n%v", mat.Formatted(c.Centroids()), want.Data)
	}
}

func TestFitReproducible(t *testing.T) {
	x := clouds(rand.New(rand.NewPCG(2, 3)), 3000, 7)
	want, _ := mustFit(t, x, 10, &Options{Restarts: 2, Src: rand.NewPCG(5, 5), Workers: 1})
	for _, workers := range []int{1, 2, 7} {
		got, _ := mustFit(t, x, 10, &Options{Restarts: 2, Src: rand.NewPCG(5, 5), Workers: workers})
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
	if slices.Contains(c.Sizes(), 0) || r.Restarts[0].Moved == 0 || !strings.Contains(r.String(), "empty clusters filled") {
		t.Errorf("sizes %v, %v", c.Sizes(), r)
	}

	// Fewer different points than clusters.
	x = mat.NewDense(6, 1, []float64{1, 1, 1, 4, 4, 4})
	c, r = mustFit(t, x, 3, nil)
	if c.Cost() != 0 || !r.Restarts[r.Best].Converged || !slices.Contains(c.Sizes(), 0) {
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

func TestFitOptions(t *testing.T) {
	x := clouds(rand.New(rand.NewPCG(2, 5)), 1000, 16)
	_, full := mustFit(t, x, 30, &Options{Restarts: 1})
	_, tol := mustFit(t, x, 30, &Options{Restarts: 1, Tol: 0.01})
	_, one := mustFit(t, x, 30, &Options{Restarts: 1, MaxIter: 1})
	f, g, h := full.Restarts[0], tol.Restarts[0], one.Restarts[0]
	if !f.Converged || !g.Converged || g.Iterations >= f.Iterations {
		t.Errorf("Tol 0.01 takes %d steps, 0 takes %d", g.Iterations, f.Iterations)
	}
	if h.Iterations != 1 || h.Converged || !strings.Contains(one.String(), "not converged") {
		t.Errorf("MaxIter 1: %v", one)
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
		{x, 2, &Options{Restarts: -1}, "at least 0"},
		{x, 2, &Options{MaxIter: -1}, "at least 0"},
		{x, 2, &Options{Workers: -1}, "at least 0"},
		{x, 2, &Options{Tol: -1}, "Tol is -1"},
		{x, 2, &Options{Tol: math.NaN()}, "Tol is NaN"},
		{x, 2, &Options{Init: x}, "Init is 3×2, want 2×2"},
		{x, 3, &Options{Init: with(math.NaN())}, "Init has NaN in row 2, column 1"},
	} {
		if _, _, err := Fit(c.x, c.k, c.opts); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "kmeans: ") {
			t.Errorf("k = %d, %+v: %v, want %q", c.k, c.opts, err, c.want)
		}
	}
	if c, _, err := Fit(with(1e150), 2, nil); err != nil || math.IsInf(c.Cost(), 0) {
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

func TestFitContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c, r, err := FitContext(ctx, mat.NewDense(2, 1, []float64{1, 2}), 1, nil)
	if c != nil || r.Best != -1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v, %v", c, r, err)
	}

	// Done within a fit: what there is by then is kept.
	x := clouds(rand.New(rand.NewPCG(2, 7)), 500, 9)
	late := &lateContext{Context: context.Background(), left: 20}
	c, r, err = FitContext(late, x, 9, nil)
	if c == nil || !errors.Is(err, context.Canceled) || len(r.Restarts) == 0 || len(r.Restarts) == 10 {
		t.Errorf("%v, %v", r, err)
	}
}

func TestPredictShape(t *testing.T) {
	c, _ := mustFit(t, mat.NewDense(2, 1, []float64{1, 2}), 1, nil)
	defer func() {
		if v := recover(); v != mat.ErrShape {
			t.Errorf("panics with %v", v)
		}
	}()
	c.Predict(mat.NewDense(1, 2, nil))
}
