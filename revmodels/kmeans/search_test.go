package kmeans

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"revnum/internal/long"
	"revnum/rev"
)

// TestSeed checks that greedy k-means++ finds clusters that are far apart, each
// with one centroid, and draws with the weights of the points.
func TestSeed(t *testing.T) {
	x := blobs(rand.New(rand.NewPCG(5, 1)), 3000, 10, 20)
	right := 0
	for seed := range uint64(20) {
		s := newSearch(rev.ViewDense(x), nil, 20, 2)
		if !s.seed(t.Context(), rand.New(rand.NewPCG(5, seed))) {
			t.Fatal("not done")
		}
		var counts [20]int
		for i, label := range s.labels {
			if int(label) == int(s.labels[i%20]) {
				counts[label]++
			}
		}
		if slices.Min(counts[:]) == 150 {
			right++
		}
		s.close()
	}
	// Without candidates 1 is.
	if right < 10 {
		t.Errorf("%d of 20 starts are right", right)
	}

	// Points of weight 0 are not drawn, even if they are far.
	points := mat.NewDense(5, 1, []float64{0, 0, 5, 900, -900})
	for seed := range uint64(20) {
		s := newSearch(rev.ViewDense(points), []float64{1, 1, 1, 0, 0}, 2, 1)
		s.seed(t.Context(), rand.New(rand.NewPCG(5, seed)))
		if got := slices.Sorted(slices.Values(s.centroids.Data)); got[0] != 0 || got[1] != 5 {
			t.Errorf("centroids %v", got)
		}
		s.close()
	}
}

func TestDraw(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 6))
	w := []float64{0, 1, 0, 3, 0}
	var counts [5]int
	for range 4000 {
		counts[draw(rnd, w)]++
	}
	// Four standard deviations around 3000.
	if counts[1]+counts[3] != 4000 || !(math.Abs(float64(counts[3]-3000)) <= 4*math.Sqrt(750)) {
		t.Errorf("counts %v for weights %v", counts, w)
	}
	var equal [3]int
	for range 300 {
		equal[draw(rnd, make([]float64, 3))]++
	}
	if slices.Min(equal[:]) == 0 {
		t.Errorf("all weights 0: %v", equal)
	}
}

// TestVariance checks the mean of the variances of the columns, also in memory that
// another search has used.
func TestVariance(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 3 {
		x, w := mat.NewDense(500, 2, nil), make([]float64, 500)
		for i := range w {
			x.SetRow(i, []float64{3 + rnd.NormFloat64(), rnd.Float64()})
			w[i] = rnd.Float64()
		}
		want := (stat.PopVariance(mat.Col(nil, 0, x), w) + stat.PopVariance(mat.Col(nil, 1, x), w)) / 2
		s := newSearch(rev.ViewDense(x), w, 3, 2)
		if !(math.Abs(s.variance-want) <= 1e-13*want) {
			t.Errorf("variance %v, want %v", s.variance, want)
		}
		s.seed(t.Context(), rnd)
		s.step()
		s.close()
	}
}

// TestStep checks steps with bounds and then without against the definition, over problems whose
// distances can hardly be told apart.
func TestStep(t *testing.T) {
	twice := slices.Repeat(problems(), 2)
	for i, p := range twice {
		rnd := rand.New(rand.NewPCG(5, 2))
		if p.n < p.comps || p.name == "Inf" || p.name == "NaN" || p.name == "huge" || p.name == "overflow" {
			continue
		}
		x := rev.NewGeneral[float64](p.n, p.d, nil)
		for i := range x.Data {
			x.Data[i] = p.number(rnd)
		}
		s := newSearch(x, nil, p.comps, 2)
		s.bounded = i < len(twice)/2
		s.seed(t.Context(), rnd)
		s.resum()
		s.update()
		s.step() // decides where candidates are equally near
		for step := range long.Or(8, 2) {
			_, labels, _, _ := reference(s.centroids, x)
			counts := make([]float64, p.comps)
			for i, label := range labels {
				counts[label]++
				if int(s.labels[i]) != label {
					t.Fatalf("%s: step %d: point %d belongs to %d, want %d", p.name, step, i, s.labels[i], label)
				}
				own := math.Sqrt(distance(x.Row(i), s.centroids.Row(label)))
				if s.bounded && !(own <= s.upper[i]) {
					t.Fatalf("%s: step %d: point %d is at %v, bound %v", p.name, step, i, own, s.upper[i])
				}
				for k := range p.comps {
					v := distance(x.Row(i), s.centroids.Row(k))
					if s.bounded {
						v = math.Sqrt(v)
					}
					if k != label && !(v >= s.lower[i]) {
						t.Fatalf("%s: step %d: point %d has another centroid at %v, bound %v", p.name, step, i, v, s.lower[i])
					}
				}
			}
			for k, count := range counts {
				if s.count(k) != count {
					t.Fatalf("%s: step %d: centroid %d has %v points, want %v", p.name, step, k, s.count(k), count)
				}
			}
			s.update()
			s.step()
		}
		s.close()
	}
}

// TestOneCentroid checks that bounds decide where there is no other centroid.
func TestOneCentroid(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{1, 2, 6})
	s := newSearch(rev.ViewDense(x), nil, 1, 1)
	defer s.close()
	s.bounded = true
	s.seed(t.Context(), rand.New(rand.NewPCG(5, 7)))
	s.resum()
	s.update()
	s.step()
	var list [panel]int
	if n := s.unclear(&list, 0, s.n); n != 0 || s.centroids.Data[0] != 3 {
		t.Errorf("%d points are unclear, and the centroid is %v", n, s.centroids.Data)
	}
}

// TestSwap starts with two centroids in one cluster and one for two, which Lloyd's
// algorithm does not leave.
func TestSwap(t *testing.T) {
	x := clouds(rand.New(rand.NewPCG(5, 3)), 900, 9)
	for _, bounded := range []bool{false, true} {
		s := newSearch(rev.ViewDense(x), nil, 9, 1)
		s.bounded = bounded
		for k := range 9 {
			copy(s.centroids.Row(k), []float64{float64(k % 4 * 10), float64(k / 4 * 10)})
		}
		copy(s.centroids.Row(8), []float64{1, 0})
		s.assign()
		var r Start
		s.lloyd(t.Context(), &r, 100, 0)
		stuck, before := s.cost(nil), r.Iterations
		got := s.improve(t.Context(), &r, rand.New(rand.NewPCG(5, 4)), 100, 0, false)
		// The two parts of the split cluster are right already, so one iteration changes nothing.
		if steps := r.Iterations - before; steps != 1 {
			t.Errorf("bounded %v: %d iterations after the swap, want 1", bounded, steps)
		}
		if r.Swaps != 1 || !(got < stuck/2) || got != s.cost(nil) {
			t.Errorf("bounded %v: %d swaps take the cost from %v to %v", bounded, r.Swaps, stuck, got)
		}
		s.close()
	}
}

// TestFailedSwap swaps where points are so far apart that rounding makes some swaps raise the
// cost: they must be undone.
func TestFailedSwap(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(5, seed))
		x := mat.NewDense(20, 2, nil)
		for i := range 20 {
			x.SetRow(i, []float64{rnd.NormFloat64() + 1e8*float64(i%2), rnd.NormFloat64()})
		}
		s := newSearch(rev.ViewDense(x), nil, 4, 1)
		s.seed(t.Context(), rnd)
		var r Start
		s.lloyd(t.Context(), &r, 100, 0)
		before := s.cost(nil)
		if got := s.improve(t.Context(), &r, rnd, 100, 0, seed%2 == 1); got != s.cost(nil) || got > before {
			t.Errorf("the cost is %v, improve returned %v, and it was %v before", s.cost(nil), got, before)
		}
		s.close()
	}
}

// TestTrial looks for swaps that may not lower the cost. In points without clusters, most
// states have one that does.
func TestTrial(t *testing.T) {
	better := 0
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(6, seed))
		x := rev.NewGeneral[float64](400, 17, nil) // more dimensions than flat
		for i := range x.Data {
			x.Data[i] = rnd.NormFloat64() * float64(1+i%17)
		}
		s := newSearch(x, nil, 8, 1)
		s.seed(t.Context(), rnd)
		var r Start
		s.lloyd(t.Context(), &r, 1000, 1e-2*s.variance)
		before := s.improve(t.Context(), &r, rnd, 1000, 1e-2*s.variance, false)
		swaps := r.Swaps
		got := s.improve(t.Context(), &r, rnd, 1000, 1e-2*s.variance, true)
		_, labels, _, _ := reference(s.centroids, x)
		for i, label := range labels {
			if int(s.labels[i]) != label {
				t.Fatalf("point %d belongs to %d, want %d", i, s.labels[i], label)
			}
		}
		if got != s.cost(nil) || got > before || got < before != (r.Swaps > swaps) {
			t.Errorf("%d swaps take the cost from %v to %v, which is %v", r.Swaps-swaps, before, got, s.cost(nil))
		}
		if got < before {
			better++
		}
		// A start that has no iterations left stays.
		most := r.Iterations
		if again := s.improve(t.Context(), &r, rnd, most, 0, true); again != got || r.Iterations != most {
			t.Errorf("%d iterations of %d, cost %v, want %v", r.Iterations, most, again, got)
		}
		s.close()
	}
	if better < 10 {
		t.Errorf("%d of 20 states got better", better)
	}
}

// TestSample checks that points are drawn with their weights, and that clusters which
// are too small to be in a sample are found.
func TestSample(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	const n, size = 5000, 1000
	w := make([]float64, n)
	for i := range w {
		w[i] = float64(i % 3) // 0, 1, 2
	}
	s := &search{n: n}
	for name, want := range map[string][3]int{"weights": {0, 333, 667}, "none": {333, 333, 333}} {
		s.w = nil
		if name == "weights" {
			s.w = w
		}
		var counts [3]int
		for _, i := range s.sample(rnd, size) {
			counts[i%3]++
		}
		for k, count := range counts {
			if d := count - want[k]; d*d > 60*60 || want[k] == 0 && count > 0 {
				t.Errorf("%s: %d points drawn, want %d", name, counts, want)
			}
		}
	}

	x := blobs(rnd, 20000, 3, 4)
	for i := range 5 { // far from all others
		x.SetRow(4000*i+7, []float64{1000 + rnd.NormFloat64(), 0, 0})
	}
	c, _, err := Fit(t.Context(), x, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Min(c.Sizes()); got != 5 {
		t.Errorf("the smallest cluster has %d points, want 5", got)
	}
}
